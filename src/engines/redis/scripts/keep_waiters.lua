-- Extends places in queues. Never re-creates, never shortens. A waiter that was handed the lock is told so and not extended: it
-- must claim.
--
-- KEYS[i]  state of the name that the i-th waiter waits for, as described in holders.lua
-- ARGV[2] how long keys live, ms ARGV[3] the ids, 16 bytes each, in the order of KEYS
--
-- Answers one letter per waiter: w waiting, extended | h holding | g gone, or without a ticket: it has to ask again
--         d as in whole.lua | u unknown: it failed, see several.lua
--
-- Each key of a name can be lost alone. A waiter that has a place but no ticket would never get its turn, so it must ask
-- again; a state without the flag "somebody waits" gets it.

-- cluster: -- include whole.lua
-- include tell.lua
-- include slots.lua
-- include holders.lua
-- include queue.lua
-- include several.lua
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local ms, live = ARGV[1] + 0, ARGV[2] + 0

local function keep_place(r, id, place)
  if not call('ZSCORE', r.queue, id) then return false end
  if ms == 0 then return (is_good(place, now)) end
  local until_, before = struct.unpack('>I7I6', place)
  until_ = math.max(now + ms * 1000, math.min(until_, now + before * 1000))
  call('HSET', r.waiters, id, struct.pack('>I7I6', until_, ms) .. string.sub(place, 14))
  r.granted = true
  if not r.waits then r.waits, r.dirty = true, true end
  return true
end

-- A waiter does not ask again for a long time: so expired holds and places must be found here, once for each name.
local function is_over(r, id)
  if not r.waits then return false end
  if is_due(r, now) then return true end
  if r.seen then return false end
  r.seen = true
  return head_is_dead(r, now, id)
end

-- A name is read once and saved once, even if several ids wait for it.
local function extend(key, id)
  local r = names[key] or read(key, get(key))
  if not r then return 'g' end
  -- cluster: local alone = r.mode == 'x' and not is_due(r, now)
  -- cluster: if not whole(key, r.waits, r.mode ~= 'x', alone) then return 'd' end
  names[key] = r
  local place = call('HGET', r.waiters, id)
  local waits = place and keep_place(r, id, place)
  local late = is_over(r, waits and id)
  if late then settle(r, now) end
  if waits and not late then return 'w' end
  local hold = find(r, id)
  return hold and hold.ends > now and 'h' or waits and 'w' or 'g'
end

local fates = {}
for i, key in ipairs(KEYS) do fates[i] = try(key, extend, string.sub(ARGV[3], i * 16 - 15, i * 16)) end
return said(fates, now, live)
