-- Extends holds. Never re-creates: a hold that has expired is gone, even if nobody has taken the lock since.
--
-- KEYS[i]  state of the i-th hold
-- ARGV[1]  ttl, ms
-- ARGV[2]  how long keys live, ms
-- ARGV[3]  the ids, 16 bytes each, in the order of KEYS
--
-- Answers one letter per hold: h holding, extended | w handed over but not claimed, not extended | g gone
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local live = ARGV[2] * 1000
local until_ = struct.pack('>I7', now + ARGV[1] * 1000)
local fates, late = {}, nil
for i, key in ipairs(KEYS) do
  local state, fate = redis.pcall('GET', key), 'g'
  if type(state) == 'string' and #state >= 38 and string.sub(state, 1, 2) == 'T1' then
    local flags, dies, expiry = struct.unpack('>BxI4I7', state, 3)
    if expiry <= now then
      if flags > 3 then late = {key = key, state = state, next = late} end
    elseif string.sub(state, 23, 38) == string.sub(ARGV[3], i * 16 - 15, i * 16) then
      fate = flags % 4 > 1 and 'w' or 'h'
      if fate == 'w' then
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
if not late then return table.concat(fates) end

-- include queue.lua
while late do
  pass_on(late.key, late.state, late.key .. 'q', late.key .. 'w', now)
  late = late.next
end
return table.concat(fates)
