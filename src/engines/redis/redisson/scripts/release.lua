-- Releases a hold, or breaks it, and wakes the waiters for the name, Java's too. Never touches somebody else's hold.
--
-- KEYS[1]  the name
-- ARGV[1]  field of the hold
-- ARGV[2]  channel where Redisson says that a name is free; in a cluster a sharded one for new clients, a plain one for old ones
-- ARGV[3]  if given, it is broken by somebody else: the inbox of its client
--
-- Answers what it was: h holding | g gone
--
-- pcall: a push is only a hint, so a server that does not allow it (ACL) is no failure.
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 'g' end
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.pcall('PUBLISH', ARGV[2], '0')
  -- cluster: redis.pcall('SPUBLISH', ARGV[2], '0')
end
if ARGV[3] then redis.pcall('PUBLISH', ARGV[3], 'g' .. ARGV[1]) end
return 'h'
