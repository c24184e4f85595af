-- Extends places in queues. Never re-creates, never shortens. A waiter that was handed the lock is told so and not extended: it
-- must claim.
--
-- KEYS[i]  state of the name that the i-th waiter waits for, as described in holders.lua
-- ARGV[1]  how long a place is good, ms
-- ARGV[2]  how long keys live, ms
-- ARGV[3]  the ids, 16 bytes each, in the order of KEYS
--
-- Answers one letter per waiter: w waiting, extended | h holding | g gone | d as in whole.lua

-- cluster: -- include whole.lua
-- include tell.lua
-- include slots.lua
-- include holders.lua
-- include queue.lua
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local ms = ARGV[1] + 0

-- Read once and saved once, though several may wait for one name.
local names = {}
local function extend(key, id)
  local r = names[key] or read(key, call('GET', key))
  if not r then return 'g' end
  -- cluster: if not whole(key, r.waits, r.mode ~= 'x', r.mode == 'x' and r.expiry > now) then return 'd' end
  names[key] = r
  local place = call('HGET', r.waiters, id)
  if place then
    local until_ = math.max(now + ms * 1000, (struct.unpack('>I7', place)))
    call('HSET', r.waiters, id, struct.pack('>I7I6', until_, ms) .. string.sub(place, 14))
    if now % 31 == 0 then
      call('PEXPIRE', r.queue, ARGV[2])
      call('PEXPIRE', r.waiters, ARGV[2])
    end
  end
  local late = r.waits and r.expiry <= now
  if late then settle(r, now) end
  if place and not late then return 'w' end
  local hold = find(r, id)
  return hold and hold.ends > now and 'h' or place and 'w' or 'g'
end

-- pcall: what lies under one name must not be in the way of the others.
local fates = {}
for i, key in ipairs(KEYS) do
  local ok, fate = pcall(extend, key, string.sub(ARGV[3], i * 16 - 15, i * 16))
  fates[i] = ok and fate or 'g'
end
for _, r in pairs(names) do pcall(save, r, now) end
return table.concat(fates)
