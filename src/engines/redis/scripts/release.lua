-- Gives up a hold, a hand-over or a place in the queue. What somebody else has is never touched.
--
-- KEYS[1]  state, as described in holders.lua
-- ARGV[1]  id, 16 bytes
-- ARGV[2]  if given, it is unclean: a hold with a lock delay leaves a ghost
--
-- Answers what it was: h holding | w waiting | g gone | c something else lies there
--
-- The uncontended path of an exclusive lock is GET, SET, without asking for the time: a hold that has expired, but that nobody
-- has taken, is still in its place, so it was holding. The state stays as a tombstone that keeps the token floor, with the time
-- to live that the last claim or renewal gave it.
local state = redis.call('GET', KEYS[1])
if state then
  if #state < 38 then return 'c' end
  local format, flags, dies, _, last = struct.unpack('>I2BxI4I7I7', state)
  if format ~= 0x5431 then return 'c' end
  if flags > 0 and flags < 4 and string.sub(state, 23, 38) == ARGV[1] then
    redis.call('SET', KEYS[1],
               struct.pack('>c4I4I7I7c16', 'T1\0x', dies, 0, last, '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'), 'KEEPTTL')
    return 'h'
  end
end

-- include slots.lua
-- include holders.lua
-- include queue.lua
-- include remove.lua
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local r = read(KEYS[1], state)
if not r then return 'c' end
local was = remove(r, ARGV[1], not ARGV[2], now)
save(r, now)
return was
