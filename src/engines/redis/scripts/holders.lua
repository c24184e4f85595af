-- A name taken apart, changed and put together again, for the scripts that include this file after slots.lua.
--
-- The state is the key of the name, KEYS[1] (or KEYS[i]). What else there is of a name, its key with a letter behind it, is
-- not declared: the name is the hash tag of all of them, so where one is, in a cluster too, the others are.
--
--   state   'T1', flags, mode (x exclusive, s shared, p permits), '>I4' when the key dies (server s), '>I7' when somebody
--           else may have it (server µs, 0: free), '>I7' last token part; then, exclusive: id of the holder, if there is
--           a lock delay '>I6' that delay (ms), owner; many holders: '>I4' how many, id of who waits for its upgrade or
--           zeros, '>I4I4' capacity and permits taken, and the map of the permits (slots.lua)
--   flags   1 held, 2 handed over and not yet claimed, 4 somebody waits, 8 with a lock delay, 16 many holders
--   h       hash, only while there are many holders: id -> '>I7' when somebody else may have it, '>I7' token part, '>I6' lock
--           delay, 1 if claimed, '>I4' length of the slots, slots, owner
--
-- A lock delay is part of the time until somebody else may have it, and its owner's time ends that much earlier. Between the
-- two a hold is a ghost: gone for its owner, but in its place, by nothing but the clock. With many holders the time in
-- the state is a lower bound: a renewal touches only the hash, and when the bound is over all are looked at.
local call = redis.call
local nobody = string.rep('\0', 16)
local most_holders = 10000

-- nil: something else lies there.
local function read(key, state)
  local r = {key = key, queue = key .. 'q', waiters = key .. 'w', holders = key .. 'h', fresh = {},
             mode = 'x', n = 0, dies = 0, expiry = 0, last = 0, delay = 0}
  if not state then return r end
  if type(state) ~= 'string' or #state < 38 or string.sub(state, 1, 2) ~= 'T1' then return nil end
  local flags, mode, dies, expiry, last = struct.unpack('>Bc1I4I7I7', state, 3)
  r.dies, r.last, r.waits = dies, last, flags % 8 > 3
  if flags > 15 then
    if #state < 50 then return nil end
    r.mode, r.expiry = mode, expiry
    r.n, r.upgrader, r.capacity, r.taken = struct.unpack('>I4c16I4I4', state, 23)
    if r.upgrader == nobody then r.upgrader = nil end
    r.map = string.sub(state, 51)
  elseif flags % 2 == 1 then
    r.n, r.expiry, r.id, r.claimed = 1, expiry, string.sub(state, 23, 38), flags % 4 < 2
    if flags > 7 then r.delay = struct.unpack('>I6', state, 39) end
    r.owner = string.sub(state, flags > 7 and 45 or 39)
  end
  return r
end

local function read_hold(id, text)
  if not text or #text < 25 then return nil end
  local expiry, part, delay, claimed, size = struct.unpack('>I7I7I6BI4', text)
  return {id = id, ends = expiry - delay * 1000, part = part, delay = delay, claimed = claimed == 1,
          slots = string.sub(text, 26, 25 + size), owner = string.sub(text, 26 + size)}
end

-- The hold of this id, or its ghost: then it ends before now.
local function find(r, id)
  if r.n == 0 then return nil end
  if r.mode ~= 'x' then return read_hold(id, r.fresh[id] or call('HGET', r.holders, id)) end
  if r.id ~= id then return nil end
  return {id = id, ends = r.expiry - r.delay * 1000, part = r.last, delay = r.delay, claimed = r.claimed, slots = '',
          owner = r.owner}
end

-- Every hold and every ghost.
local function find_all(r)
  if r.n == 0 then return {} end
  if r.mode == 'x' then return {find(r, r.id)} end
  local all, holds = call('HGETALL', r.holders), {}
  for i = 1, #all, 2 do holds[#holds + 1] = read_hold(all[i], all[i + 1]) end
  return holds
end

-- Writes a hold, into the name as it is here: save() brings it to the server.
local function put(r, hold)
  local expiry = hold.ends + hold.delay * 1000
  if r.mode == 'x' then
    r.id, r.expiry, r.delay, r.claimed, r.owner, r.dirty = hold.id, expiry, hold.delay, hold.claimed, hold.owner, true
  else
    r.fresh[hold.id] = struct.pack('>I7I7I6BI4', expiry, hold.part, hold.delay, hold.claimed and 1 or 0, #hold.slots) ..
                       hold.slots .. hold.owner
    if expiry < r.expiry then r.expiry, r.dirty = expiry, true end
  end
  if hold.part > r.last then r.last, r.dirty = hold.part, true end
end

local function fits(r, mode, take, capacity)
  if r.n == 0 then return true end
  if r.mode == 'x' or r.mode ~= mode or r.n >= most_holders then return false end
  return mode == 's' or capacity == r.capacity and r.taken + take <= capacity
end

local function add(r, mode, hold, take, capacity)
  if r.n == 0 then
    r.mode, r.expiry = mode, math.huge
    if mode ~= 'x' then
      -- A hash may have outlived a state that the server has lost.
      if call('HLEN', r.holders) > 0 then call('DEL', r.holders) end
      r.begins, r.capacity, r.taken, r.map = true, 0, 0, ''
      if mode == 'p' then r.capacity, r.map = capacity, empty_map(capacity) end
    end
  end
  if mode == 'p' then
    r.map, hold.slots = take_slots(r.map, take)
    r.taken = r.taken + take
  end
  r.n, r.dirty = r.n + 1, true
  put(r, hold)
end

local function empty(r) r.mode, r.n, r.expiry, r.upgrader, r.dirty = 'x', 0, 0, nil, true end

local function mark(r, slots, sign)
  local more
  r.map, more = mark_slots(r.map, slots, sign)
  r.taken = r.taken + more
end

local function drop(r, hold)
  if r.mode ~= 'x' then
    r.fresh[hold.id] = nil
    call('HDEL', r.holders, hold.id)
    if r.upgrader == hold.id then r.upgrader = nil end
  end
  if r.n == 1 then return empty(r) end
  if r.mode == 'p' then mark(r, hold.slots, -1) end
  r.n, r.dirty = r.n - 1, true
end

-- Frees the permits of the dead, or takes those of the living on an empty map: whichever is less. Only the latter is right if
-- the server has lost holders.
local function reap_slots(r, before, dead, living)
  local marked, sign = dead, -1
  if #dead > #living or #dead + #living ~= before then
    r.map, r.taken, marked, sign = empty_map(r.capacity), 0, living, 1
  end
  for _, text in ipairs(marked) do
    local hold = read_hold(nil, text)
    if hold then mark(r, hold.slots, sign) end
  end
end

-- Forgets holds and ghosts whose time is over.
local function reap(r, now)
  if r.n == 0 or r.expiry > now then return end
  if r.mode == 'x' then return empty(r) end
  local all, ids, dead, living, before = call('HGETALL', r.holders), {}, {}, {}, r.n
  r.expiry, r.dirty = math.huge, true
  for i = 1, #all, 2 do
    local text = all[i + 1]
    local expiry = #text < 25 and 0 or struct.unpack('>I7', text)
    if expiry <= now then
      ids[#ids + 1], dead[#dead + 1] = all[i], text
    else
      living[#living + 1] = text
      if expiry < r.expiry then r.expiry = expiry end
    end
  end
  for from = 1, #ids, 1000 do call('HDEL', r.holders, unpack(ids, from, math.min(from + 999, #ids))) end
  r.n = #living
  if r.n == 0 then return empty(r) end
  if r.mode == 'p' then reap_slots(r, before, dead, living) end
  local hold = r.upgrader and find(r, r.upgrader)
  if hold and hold.ends > now then r.expiry = math.min(r.expiry, hold.ends) end
end

local function pack(r)
  local flags = r.waits and 4 or 0
  if r.n == 0 then return struct.pack('>c2Bc1I4I7I7c16', 'T1', flags, 'x', r.dies, 0, r.last, nobody) end
  if r.mode ~= 'x' then
    return struct.pack('>c2Bc1I4I7I7I4c16I4I4c0', 'T1', flags + 17, r.mode, r.dies, r.expiry, r.last, r.n, r.upgrader or nobody,
                       r.capacity, r.taken, r.map)
  end
  flags = flags + (r.claimed and 1 or 3) + (r.delay > 0 and 8 or 0)
  return struct.pack('>c2Bc1I4I7I7c16', 'T1', flags, 'x', r.dies, r.expiry, r.last, r.id) ..
         (r.delay > 0 and struct.pack('>I6', r.delay) or '') .. r.owner
end

-- Brings what has changed to the server. `live` is how long the keys are to live, from now; without it, and while most of that
-- is left, they keep the time that they have. The holders die with their state.
local function save(r, now, live)
  local fields = {}
  for id, text in pairs(r.fresh) do
    fields[#fields + 1] = id
    fields[#fields + 1] = text
  end
  for from = 1, #fields, 2000 do call('HSET', r.holders, unpack(fields, from, math.min(from + 1999, #fields))) end
  local renew = live and (r.dirty or r.granted) and r.dies * 1000000 <= now + live * 937
  if not r.dirty and not renew then return end
  if renew then
    r.dies = (now / 1000 + live) / 1000
    call('SET', r.key, pack(r), 'PX', live)
  else
    call('SET', r.key, pack(r), 'KEEPTTL')
  end
  if r.n > 0 and r.mode ~= 'x' and (renew or r.begins) then
    call('PEXPIRE', r.holders, renew and live or math.max(1, math.floor(r.dies * 1000 - now / 1000)))
  end
end
