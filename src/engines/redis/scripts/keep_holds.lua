-- Extends holds. Never re-creates: a hold that has expired is gone, even if nobody has taken the lock since. Never shortens.
--
-- KEYS[i]  state of the i-th hold, as described in holders.lua
-- ARGV[1]  ttl, ms
-- ARGV[2]  how long keys live, ms
-- ARGV[3]  the ids, 16 bytes each, in the order of KEYS
--
-- Answers one letter per hold: h holding, extended | w handed over but not claimed, not extended | g gone | d as in whole.lua
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local live = ARGV[2] * 1000
local new_end = now + ARGV[1] * 1000
local until_ = struct.pack('>I7', new_end)
local fates, others = {}, nil
for i, key in ipairs(KEYS) do
  local state, fate = redis.pcall('GET', key), 'g'
  if type(state) == 'string' and #state >= 38 and string.sub(state, 1, 2) == 'T1' then
    local flags, dies, expiry = struct.unpack('>BxI4I7', state, 3)
    if flags > 7 or flags > 3 and expiry <= now then
      others = {i = i, state = state, next = others}
    elseif expiry > now and string.sub(state, 23, 38) == string.sub(ARGV[3], i * 16 - 15, i * 16) then
      fate = flags % 4 > 1 and 'w' or 'h'
      if fate == 'w' or expiry >= new_end then
      elseif dies * 1000000 > now + live * 0.9375 then
        redis.call('SET', key, string.sub(state, 1, 8) .. until_ .. string.sub(state, 16), 'KEEPTTL')
      else
        dies = struct.pack('>I4', (now + live) / 1000000)
        redis.call('SET', key, string.sub(state, 1, 4) .. dies .. until_ .. string.sub(state, 16), 'PX', ARGV[2])
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
-- Read once and saved once, though several holds may have one name.
local names = {}
local function extend(key, state, id)
  local r = names[key] or read(key, state)
  if not r then return 'g' end
  -- cluster: if torn(key, false, r.mode ~= 'x') then return 'd' end
  -- cluster: if (r.waits or r.upgrader) and r.expiry <= now and not whole(key, r.waits, r.mode ~= 'x') then return 'd' end
  names[key] = r
  if (r.waits or r.upgrader) and r.expiry <= now then settle(r, now) end
  local hold = find(r, id)
  if not hold or hold.ends <= now then return 'g' end
  if not hold.claimed then return 'w' end
  if hold.ends < new_end then
    hold.ends = new_end
    put(r, hold)
  end
  r.granted = true
  return 'h'
end
-- pcall: what lies under one name must not be in the way of the others.
while others do
  local ok, fate = pcall(extend, KEYS[others.i], others.state, string.sub(ARGV[3], others.i * 16 - 15, others.i * 16))
  fates[others.i] = ok and fate or 'g'
  others = others.next
end
for _, r in pairs(names) do pcall(save, r, now, ARGV[2] + 0) end
return table.concat(fates)
