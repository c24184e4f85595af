-- Extends places in queues. Never re-creates. A waiter that was handed the lock is told so and not extended: it must claim.
--
-- KEYS[i]  state of the name that the i-th waiter waits for
-- ARGV[1]  how long a place is good, ms
-- ARGV[2]  how long keys live, ms
-- ARGV[3]  the ids, 16 bytes each, in the order of KEYS
--
-- Answers one letter per waiter: w waiting, extended | h holding | g gone
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local until_ = struct.pack('>I7I6', now + ARGV[1] * 1000, ARGV[1])

-- include queue.lua
local fates = {}
for i, key in ipairs(KEYS) do
  local id, queue, waiters, fate = string.sub(ARGV[3], i * 16 - 15, i * 16), key .. 'q', key .. 'w', 'g'
  local place = redis.call('HGET', waiters, id)
  if place then
    fate = 'w'
    redis.call('HSET', waiters, id, until_ .. string.sub(place, 14))
    if now % 31 == 0 then
      redis.call('PEXPIRE', queue, ARGV[2])
      redis.call('PEXPIRE', waiters, ARGV[2])
    end
  end
  local state = redis.pcall('GET', key)
  if type(state) == 'string' and #state >= 38 and string.sub(state, 1, 2) == 'T1' then
    local flags, expiry, _, holder = struct.unpack('>BxxxxxI7I7c16', state, 3)
    if expiry <= now and flags > 3 then
      holder = pass_on(key, state, queue, waiters, now)
      expiry = now + 1
    end
    if holder == id and expiry > now then fate = 'h' end
  end
  fates[i] = fate
end
return table.concat(fates)
