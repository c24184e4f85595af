-- Takes the lock as Redisson's RLock does. Idempotent by field: unlike a thread of Java's, a hold never counts up.
--
-- KEYS[1]  the name
-- ARGV[1]  field of the hold
-- ARGV[2]  not after, server µs
-- ARGV[3]  ttl, ms
--
-- Answers  0: granted, and there is no token | b<ms> busy for so long at most | l<server µs> too late, nothing done
--          c the key holds something else
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if now > ARGV[2] + 0 then return string.format('l%.0f', now) end
local key, ttl = KEYS[1], ARGV[3] + 0
local left = redis.call('PTTL', key)
if left == -2 then
  redis.call('HSET', key, ARGV[1], '1')
  -- Without a time to live the lock would block everybody for ever: if the server does not allow PEXPIRE, take nothing.
  local said = redis.pcall('PEXPIRE', key, ttl)
  if type(said) ~= 'table' then return 0 end
  redis.call('HDEL', key, ARGV[1])
  return said
end
if redis.call('HEXISTS', key, ARGV[1]) == 1 then
  if left < ttl then redis.call('PEXPIRE', key, ttl) end
  return 0
end
-- A hash without a time to live is no lock but data: it would never become free.
if left == -1 then return 'c' end
return string.format('b%d', left + 1)
