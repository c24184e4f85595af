-- Takes the lock, claims a hand-over, or takes a place in the queue. Idempotent by id.
--
-- KEYS[1]  state (KEYS[2] queue, KEYS[3] waiters: may be left out, they are made from the state's)
-- ARGV[1]  id, 16 bytes, then the owner, for people
-- ARGV[2]  terms, packed '>I6I6I7I7I6I4': ttl ms, place ms (0: do not queue), not after (server µs), seen (token part), how
--          long keys live ms, most waiters
--
-- Answers  the token part, a number: granted | q<ahead> <look again ms> | b<ms> busy | l<server µs> too late, nothing done
--          c something else lies there | o over the limit of waiters | p token parts are used up
--
-- The state: 'T1', flags (1 held, 2 handed over and not yet claimed, 4 somebody waits), mode, '>I4' when the key dies
-- (server s), '>I7' expiry of the hold (server µs, 0: free), '>I7' last token part, id of the holder, owner.
--
-- The uncontended path is TIME, GET, SET; what only contention needs is below it. Every argument and every new string costs
-- the server nearly as much as a call, and so does a number that is turned into text: hence packed terms, states that are
-- taken apart and put together in one go, and a number as the answer. The key's time to live is left alone until a sixteenth
-- of it is gone.
local call = redis.call
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local ttl, place, not_after, seen, live, most = struct.unpack('>I6I6I7I7I6I4', ARGV[2])
if now > not_after then return string.format('l%.0f', now) end
local key = KEYS[1]
local state = call('GET', key)
local flags, dies, expiry, last, part = 0, 0, 0, 0
if state then
  if #state < 38 then return 'c' end
  local format
  format, flags, dies, expiry, last = struct.unpack('>I2BxI4I7I7', state)
  if format ~= 0x5431 then return 'c' end
end

local function take(more)
  if part > 9007199254740991 then return 'p' end
  local head = more and 'T1\5x' or 'T1\1x'
  if dies * 1000000 > now + live * 937 then
    call('SET', key, struct.pack('>c4I4I7I7c0', head, dies, now + ttl * 1000, part, ARGV[1]), 'KEEPTTL')
  else
    dies = (now / 1000 + live) / 1000
    call('SET', key, struct.pack('>c4I4I7I7c0', head, dies, now + ttl * 1000, part, ARGV[1]), 'PX', live)
  end
  return part
end
if expiry > now then
  if string.sub(state, 23, 38) == string.sub(ARGV[1], 1, 16) then
    part = last
    if flags % 4 > 1 and part <= seen then part = seen + 1 end
    return take(flags > 3)
  end
  if place == 0 then return string.format('b%d', math.ceil((expiry - now) / 1000)) end
else
  part = last + 1
  if part <= seen then part = seen + 1 end
  if part < now then part = now end
  if flags < 4 then return take() end
end

-- include queue.lua
local id, queue, waiters = string.sub(ARGV[1], 1, 16), KEYS[2] or key .. 'q', KEYS[3] or key .. 'w'
if expiry <= now then
  local head, more = first_waiter(queue, waiters, now)
  if not head and more then return place == 0 and 'b1' or 'q1 1' end
  if not head then return take() end
  if head.id == id then
    leave(queue, waiters, id)
    return take(more)
  end
  flags, expiry = hand_over(key, state, queue, waiters, head, more, now)
  if place == 0 then return string.format('b%d', math.ceil((expiry - now) / 1000)) end
end

-- Tickets follow the server's clock, but never go below the last one: a clock that is set back must not let newcomers
-- overtake.
local function stand_in_line()
  local tail = call('ZRANGE', queue, '-1', '-1', 'WITHSCORES')
  local ahead = tail[1] and call('ZCARD', queue) or 0
  if ahead < most then call('ZADD', queue, string.format('%.0f', math.max(now, (tail[2] or 0) + 1)), id) end
  return ahead
end
local ahead
if call('HSET', waiters, id, struct.pack('>I7I6c1', now + place * 1000, place, 'x') .. string.sub(ARGV[1], 17)) == 1 then
  ahead = stand_in_line()
  if ahead >= most then
    call('HDEL', waiters, id)
    return 'o'
  end
  -- A busy queue is kept alive by one newcomer in 31: cheap, and the keys live a thousand times longer than that takes.
  if ahead == 0 or now % 31 == 0 then
    call('PEXPIRE', queue, live)
    call('PEXPIRE', waiters, live)
  end
else
  ahead = call('ZRANK', queue, id) or stand_in_line()
end
if flags < 4 then call('SETRANGE', key, '2', string.char(flags + 4)) end
return string.format('q%d %d', ahead, ahead == 0 and math.ceil((expiry - now) / 1000) + 1 or place)
