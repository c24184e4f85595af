-- Extends holds. Never re-creates: a hold that has expired is gone, even if nobody has taken the lock since. Never shortens.
--
-- KEYS[i]  state of the i-th hold, as described in holders.lua
-- ARGV[1]  ttl, ms
-- ARGV[2]  how long keys live, ms
-- ARGV[3]  the ids, 16 bytes each, in the order of KEYS
--
-- Answers one letter per hold: h holding, extended | w handed over but not claimed, not extended | g gone | d as in whole.lua
--         u unknown: it failed, see several.lua
--
-- The first loop is for exclusive holds that nobody waits for, or whose keys live for long enough. If its first write is
-- refused, nothing was done, and the refusal is the answer.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local live = ARGV[2] * 1000
local new_end = now + ARGV[1] * 1000
local until_, lease = struct.pack('>I7', new_end), struct.pack('>I6', ARGV[1])
local fates, others = {}, nil
for i, key in ipairs(KEYS) do
  local state, fate = redis.pcall('GET', key), 'g'
  if type(state) == 'table' and not string.find(state.err, 'WRONGTYPE') then return state end
  if type(state) == 'string' and #state >= 44 and string.sub(state, 1, 2) == 'T1' then
    local flags, dies, expiry, longest = struct.unpack('>BxI4I7xxxxxxxI6', state, 3)
    local lives = dies * 1000000 > now + live * 0.9375
    if flags > 7 or expiry > now + longest * 1000 or flags > 3 and (expiry <= now or not lives) then
      others = {i = i, state = state, next = others}
    elseif expiry > now and string.sub(state, 29, 44) == string.sub(ARGV[3], i * 16 - 15, i * 16) then
      fate = flags % 4 > 1 and 'w' or 'h'
      if fate == 'w' or expiry >= new_end then
      elseif lives then
        redis.call('SET', key, string.sub(state, 1, 8) .. until_ .. string.sub(state, 16, 22) .. lease .. string.sub(state, 29),
                   'KEEPTTL')
      else
        dies = struct.pack('>I4', (now + live) / 1000000)
        redis.call('SET', key, string.sub(state, 1, 4) .. dies .. until_ .. string.sub(state, 16, 22) .. lease ..
                               string.sub(state, 29), 'PX', ARGV[2])
      end
    end
  end
  fates[i] = fate
end
if not others then return table.concat(fates) end

-- cluster: -- include whole.lua
-- include tell.lua
-- include slots.lua
-- include holders.lua
-- include queue.lua
-- include several.lua
-- A name is read once and saved once, even if several holds have it. A queue that is being migrated to another node is not
-- touched: the next renewal that finds the queue gives the next waiter its turn. The hold is extended now, if its keys live
-- long enough.
local function extend(key, state, id)
  local r = names[key] or read(key, state)
  if not r then return 'g' end
  local due = is_due(r, now)
  -- cluster: if torn(key, false, r.mode ~= 'x') then return 'd' end
  -- cluster: if r.waits and (due or is_old(r, now, ARGV[2] + 0)) then r.apart = torn(key, true, false) end
  -- cluster: if r.waits and due and r.mode == 'x' then r.apart = r.apart or refused(r.holders) end
  names[key] = r
  if r.apart then
  elseif due and (r.waits or r.upgrader) then
    settle(r, now)
  elseif due and r.expiry > now then
    reap(r, now)
  end
  local hold = find(r, id)
  if not hold or hold.ends <= now then return 'g' end
  if not hold.claimed then return 'w' end
  -- cluster: if r.apart and r.dies * 1000000 <= new_end + hold.delay * 1000 then return 'd' end
  if hold.ends < new_end then
    hold.ends, hold.lease = new_end, ARGV[1] + hold.delay
    put(r, hold)
  end
  r.granted = true
  return 'h'
end
while others do
  fates[others.i] = try(KEYS[others.i], extend, others.state, string.sub(ARGV[3], others.i * 16 - 15, others.i * 16))
  others = others.next
end
return said(fates, now, ARGV[2] + 0)
