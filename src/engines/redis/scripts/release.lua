-- Releases a hold, a hand-over or a place in the queue. Never touches what somebody else has.
--
-- KEYS[1]  state, as described in holders.lua
-- ARGV[1]  id, 16 bytes
-- ARGV[2]  if given, it is unclean: a hold with a lock delay leaves a ghost
--
-- Answers what it was: h holding | w waiting | g gone | c the key holds something else | d as in whole.lua
--
-- The uncontended path of an exclusive lock is GET, SET, without TIME: a hold that has expired, but that nobody has taken,
-- is still stored, so the answer is holding. The state stays as a tombstone that keeps the token floor, with the time to
-- live that the last claim or renewal gave it. If an exclusive waiter is at the head of the queue, it gets its turn without
-- unpacking the whole name: the general code below costs twice as much.
local call = redis.call
local key = KEYS[1]
local state = call('GET', key)
local flags, dies, last, format, _ = 0
if state then
  if #state < 44 then return 'c' end
  format, flags, dies, _, last = struct.unpack('>I2BxI4I7I7', state)
  if format ~= 0x5431 then return 'c' end
  if flags > 0 and flags < 4 and string.sub(state, 29, 44) == ARGV[1] then
    call('SET', key, struct.pack('>c4I4I7I7I6c16', 'T1\0x', dies, 0, last, 0, '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'), 'KEEPTTL')
    return 'h'
  end
end

-- cluster: -- include whole.lua
-- include tell.lua
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
if flags % 2 == 1 and flags < 8 and string.sub(state, 29, 44) == ARGV[1] then
  -- cluster: if not whole(key, true, false, true) then return 'd' end
  local queue, waiters = key .. 'q', key .. 'w'
  local ids = call('ZRANGE', queue, '0', '1')
  local place = ids[1] and call('HGET', waiters, ids[1])
  local ends, ms, mode = 0, 0
  if place then ends, ms, mode = struct.unpack('>I7I6c1', place) end
  local given = now + ms * 1000
  if ends > now and ends <= given and dies * 1000000 > given and mode == 'x' then
    if ids[2] then
      call('ZREM', queue, ids[1])
      call('HDEL', waiters, ids[1])
    else
      call('DEL', queue)
      call('DEL', waiters)
    end
    call('SET', key, struct.pack('>c4I4I7I7I6c16c0', ids[2] and 'T1\7x' or 'T1\3x', dies, given, math.max(last + 1, now), ms,
                                 ids[1], string.sub(place, 23)), 'KEEPTTL')
    tell(ids[1], 'w')
    return 'h'
  end
end

-- cluster: if not whole(key, flags % 8 > 3, flags > 15) then return 'd' end
-- include slots.lua
-- include holders.lua
-- include queue.lua
-- include remove.lua
local r = read(key, state)
if not r then return 'c' end
local was = remove(r, ARGV[1], not ARGV[2], now)
save(r, now)
return was
