-- Takes the lock, claims a hand-over, or takes a place in the queue. Idempotent by id.
--
-- KEYS[1]  state, as described in holders.lua
-- ARGV[1]  id, 16 bytes, then the owner, for people
-- ARGV[2]  terms, packed '>I6I6I7I7I6I4': ttl ms, place ms (0: do not queue), not after (server µs), seen (token part), how
--          long keys live ms, most waiters; if it is not exclusive without a lock delay, then also '>c1I6I4I4': mode (x s p),
--          lock delay ms, how many permits, of how many
--
-- Answers  the token part, a number: granted | s<token part> <slots>: granted permits | q<ahead> <look again ms> | b<ms> busy
--          l<server µs> too late, nothing done | c the key holds something else | o over the limit of waiters | h of holders
--          d in a cluster: some keys of the name are elsewhere, nothing done (a request that may queue gets busy instead)
--          p token parts are used up | n<permits> in use with that many | m this id has it, or waits for it, in another mode
--
-- The uncontended path of an exclusive lock is TIME, GET, SET; code for the other cases is below it. Every argument and
-- every new string costs the server nearly as much as a call, and so does converting a number to text: hence packed terms,
-- states that are unpacked and packed in one call, and a number as the answer. The keys' time to live is not renewed until
-- a sixteenth of it has passed: all keys of a name have the same, so where there is a queue it is set below.
local call = redis.call
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local ttl, place, not_after, seen, live, most = struct.unpack('>I6I6I7I7I6I4', ARGV[2])
if now > not_after then return string.format('l%.0f', now) end
local key = KEYS[1]
local state = call('GET', key)
local flags, dies, expiry, last, lease, part = 0, 0, 0, 0, 0
if state then
  if #state < 44 then return 'c' end
  local format
  format, flags, dies, expiry, last, lease = struct.unpack('>I2BxI4I7I7I6', state)
  if format ~= 0x5431 then return 'c' end
end

local lives = dies * 1000000 > now + live * 937
local function write(more, until_, longest)
  if part > 9007199254740991 then return 'p' end
  local head = more and 'T1\5x' or 'T1\1x'
  if lives then
    call('SET', key, struct.pack('>c4I4I7I7I6c0', head, dies, until_, part, longest, ARGV[1]), 'KEEPTTL')
  else
    dies = (now / 1000 + live) / 1000
    call('SET', key, struct.pack('>c4I4I7I7I6c0', head, dies, until_, part, longest, ARGV[1]), 'PX', live)
  end
  return part
end
local plain = #ARGV[2] == 36
if plain and flags < 4 and expiry <= now then
  part = last + 1
  if part <= seen then part = seen + 1 end
  if part < now then part = now end
  return write(false, now + ttl * 1000, ttl)
end
local id = string.sub(ARGV[1], 1, 16)
local is_mine = flags < 8 and expiry > now and string.sub(state, 29, 44) == id
local latest = now + lease * 1000
if plain and is_mine and (flags < 4 or lives) then
  part = last
  if flags % 4 > 1 and part <= seen then part = seen + 1 end
  return write(flags > 3, math.max(math.min(expiry, latest), now + ttl * 1000), math.max(lease, ttl))
end

local owner, queue, waiters = string.sub(ARGV[1], 17), key .. 'q', key .. 'w'
local mode, delay, take, capacity = 'x', 0, 1, 1
if not plain then mode, delay, take, capacity = struct.unpack('>c1I6I4I4', ARGV[2], 37) end

-- Tickets follow the server's clock, but never go below the last one: a clock that is set back must not let newcomers
-- overtake. An id that has a ticket but has lost its place keeps the ticket. Returns how many are ahead, and whether a key
-- is new.
--
-- If the state says that somebody waits and nobody has a ticket, the server has lost the tickets. Then all places are
-- deleted, since dead ones would count for ever, and live waiters ask again.
local function stand_in_line(waits, mine)
  local tail = call('ZRANGE', queue, '-1', '-1', 'WITHSCORES')
  if waits and not tail[1] and call('HLEN', waiters) > 1 then
    call('DEL', waiters)
    call('HSET', waiters, id, mine)
  end
  local ahead = tail[1] and call('HLEN', waiters) - 1 or 0
  if ahead < most then call('ZADD', queue, 'NX', string.format('%.0f', math.max(now, (tail[2] or 0) + 1)), id) end
  return ahead, ahead == 0
end

-- Removes dead waiters among `count` entries of the queue, starting at `from`. Returns whether there were any.
local function forget_dead(from, count)
  local ids, dead = call('ZRANGE', queue, from, from + count - 1), {}
  local places = #ids > 0 and call('HMGET', waiters, unpack(ids))
  for i, one in ipairs(ids) do
    if not places[i] or struct.unpack('>I7', places[i]) <= now then dead[#dead + 1] = one end
  end
  if #dead == 0 then return false end
  call('ZREM', queue, unpack(dead))
  call('HDEL', waiters, unpack(dead))
  return true
end

-- During a long hold, dead waiters do no harm until the queue is full. A script blocks the whole server, and with a full
-- queue of live waiters every newcomer is refused: so this checks twenty places, chosen by the clock's last digits, and
-- goes on only if one of them was dead, since each waiter dies only once. Returns whether one was.
local function make_room(count)
  local from = math.floor(now % count / 20) * 20
  if not forget_dead(from, 20) then return false end
  forget_dead(math.floor(from / 1000) * 1000, 1000)
  return true
end

-- Returns how many are ahead, or what is wrong; and whether a key of the queue is new: then it has no time to live yet.
local function enter(waits)
  local terms = struct.pack('>c1I4I4', mode, take, capacity) .. owner
  local mine = struct.pack('>I7I6', now + place * 1000, place) .. terms
  if call('HSETNX', waiters, id, mine) == 1 then
    local ahead, new = stand_in_line(waits, mine)
    if ahead >= most and make_room(ahead) then ahead, new = stand_in_line(waits, mine) end
    if ahead < most then return ahead, nil, new end
    call('HDEL', waiters, id)
    return nil, 'o'
  end
  local before = call('HGET', waiters, id)
  if string.sub(before, 14, 22) ~= string.sub(terms, 1, 9) then return nil, 'm' end
  local until_, ms = struct.unpack('>I7I6', before)
  mine = struct.pack('>I7I6', math.max(now + place * 1000, math.min(until_, now + ms * 1000)), place) .. terms
  call('HSET', waiters, id, mine)
  local rank = call('ZRANK', queue, id)
  if rank then return rank end
  local ahead, new = stand_in_line(waits, mine)
  return ahead, nil, new
end

-- All keys of a name expire together.
local function expire_queue(ms)
  call('PEXPIRE', queue, ms)
  call('PEXPIRE', waiters, ms)
end

-- cluster: -- include whole.lua
-- Somebody else holds it exclusively: nothing has expired, and it is nobody's turn.
if flags < 8 and expiry > now and expiry <= latest and not is_mine then
  local look = math.ceil((expiry - now) / 1000)
  if place == 0 then return string.format('b%d', look) end
  -- cluster: if not whole(key, flags > 3, false, true) then return string.format('b%d', math.min(look, 50)) end
  local ahead, wrong, new = enter(flags > 3)
  if wrong then return wrong end
  local head = 'T1' .. string.char(flags % 4 + 4) .. 'x'
  if not lives then
    call('SET', key, head .. struct.pack('>I4', (now / 1000 + live) / 1000) .. string.sub(state, 9), 'PX', live)
    expire_queue(live)
  else
    if flags < 4 then call('SET', key, head .. string.sub(state, 5), 'KEEPTTL') end
    if new then expire_queue(math.floor(dies * 1000 - now / 1000)) end
  end
  return string.format('q%d %d', ahead, ahead == 0 and look + 1 or place)
end

-- cluster: if not whole(key, flags % 8 > 3, flags > 15) then return place > 0 and 'b50' or 'd' end
-- include tell.lua
-- include slots.lua
-- include holders.lua
-- include queue.lua
local r = read(key, state)
if not r then return 'c' end
settle(r, now, id)

local function next_look() return r.n > 0 and math.ceil((r.expiry - now) / 1000) or 1 end

local function granted(hold)
  r.granted = true
  if mode == 'p' then return string.format('s%.0f %s', hold.part, hold.slots) end
  return hold.part
end

-- This id already holds it: the request is a repeat whose answer was lost, or the claim after a hand-over. Never shortens:
-- an earlier answer may have promised more.
local function again(hold)
  if mode == 'x' and r.upgrader == id then return string.format('q0 %d', next_look() + 1) end
  if mode ~= r.mode and (r.mode ~= 'x' or mode == 'p') then return 'm' end
  if not hold.claimed and hold.part <= seen then hold.part = seen + 1 end
  if hold.part > 9007199254740991 then return 'p' end
  hold.ends, hold.lease = math.max(hold.ends, now + ttl * 1000), math.max(hold.lease, ttl + delay)
  hold.delay, hold.claimed, hold.owner = delay, true, owner
  put(r, hold)
  return granted(hold)
end

-- An id that is granted again replaces its own ghost: it is the same owner.
local function grant(ghost)
  local hold = {id = id, ends = now + ttl * 1000, lease = ttl + delay, part = math.max(r.last + 1, seen + 1, now), delay = delay,
                claimed = true, slots = '', owner = owner}
  if hold.part > 9007199254740991 then return 'p' end
  if ghost then drop(r, ghost) end
  add(r, mode, hold, take, capacity)
  return granted(hold)
end

local function wait()
  local ahead, wrong, new = enter(r.waits)
  if wrong then return wrong end
  if not r.waits then r.waits, r.dirty = true, true end
  r.queue_is_new, r.granted = new, true
  return string.format('q%d %d', ahead, (ahead == 0 or r.n == 0) and next_look() + 1 or place)
end

local function answer()
  if mode == 'p' and r.mode == 'p' and capacity ~= r.capacity then return string.format('n%d', r.capacity) end
  local hold = find(r, id)
  if hold and hold.ends > now then return again(hold) end
  if mode ~= 'x' and r.n >= most_holders then return 'h' end
  if not r.waits and not r.upgrader and fits(r, mode, take, capacity) then return grant(hold) end
  if place == 0 then return string.format('b%d', next_look()) end
  return wait()
end
local said = answer()
save(r, now, live)
return said
