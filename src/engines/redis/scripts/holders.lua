-- Unpacks, changes and packs the state of a name, for the scripts that include this file after slots.lua.
--
-- The state is the key of the name, KEYS[1] (or KEYS[i]). The other keys of a name, which have a letter at the end, are not
-- declared: all have the name as their hash tag, so in a cluster they are on the same node.
--
--   state   'T1', flags, mode (x exclusive, s shared, p permits), '>I4' when the key dies (server s), '>I7' when somebody
--           else may have it (server µs, 0: free), '>I7' last token part, '>I6' lease: for how long it was taken (ms), of many
--           holders the longest; then, exclusive: id of the holder, if there is a lock delay '>I6' that delay (ms), owner;
--           many holders: '>I4' how many, id of who waits for its upgrade or zeros, '>I4I4' capacity and permits taken,
--           and the map of the permits (slots.lua)
--   flags   1 held, 2 handed over and not yet claimed, 4 somebody waits, 8 with a lock delay, 16 many holders
--   h       hash, only while there are many holders: id -> '>I7I6' when somebody else may have it and its lease, '>I7' token
--           part, '>I6' lock delay, 1 if claimed, '>I4' length of the slots, slots, owner
--
-- The time at which somebody else may have the lock includes the lock delay; the owner's time ends that much earlier.
-- Between the two a hold is a ghost, gone for its owner but still blocking others: only the clock decides that. With many
-- holders the time in the state is a lower bound: a renewal changes only the hash, and when the bound has passed all
-- holders are checked.
--
-- An expiry later than now plus the lease proves that the server's clock was set back: a script that sees it cuts it to
-- that, so that a dead holder blocks others no longer than a lease. Nobody was promised more.
--
-- All keys of a name get their time to live together, and outlive every lease in them.
local call = redis.call
local nobody = string.rep('\0', 16)
local most_holders = 10000

-- nil: the key holds something else.
local function read(key, state)
  local r = {key = key, queue = key .. 'q', waiters = key .. 'w', holders = key .. 'h', fresh = {},
             mode = 'x', n = 0, dies = 0, expiry = 0, last = 0, lease = 0, delay = 0}
  if not state then return r end
  if type(state) ~= 'string' or #state < 44 or string.sub(state, 1, 2) ~= 'T1' then return nil end
  local flags, mode, dies, expiry, last, lease = struct.unpack('>Bc1I4I7I7I6', state, 3)
  r.dies, r.last, r.lease, r.waits = dies, last, lease, flags % 8 > 3
  if flags > 15 then
    if #state < 56 then return nil end
    r.mode, r.expiry = mode, expiry
    r.n, r.upgrader, r.capacity, r.taken = struct.unpack('>I4c16I4I4', state, 29)
    if r.upgrader == nobody then r.upgrader = nil end
    r.map = string.sub(state, 57)
  elseif flags % 2 == 1 then
    r.n, r.expiry, r.id, r.claimed = 1, expiry, string.sub(state, 29, 44), flags % 4 < 2
    if flags > 7 then r.delay = struct.unpack('>I6', state, 45) end
    r.owner = string.sub(state, flags > 7 and 51 or 45)
  end
  return r
end

local function read_hold(id, text)
  if not text or #text < 31 then return nil end
  local expiry, lease, part, delay, claimed, size = struct.unpack('>I7I6I7I6BI4', text)
  return {id = id, ends = expiry - delay * 1000, lease = lease, part = part, delay = delay, claimed = claimed == 1,
          slots = string.sub(text, 32, 31 + size), owner = string.sub(text, 32 + size)}
end

-- The hold of this id, or its ghost: then it ends before now.
local function find(r, id)
  if r.n == 0 then return nil end
  if r.mode ~= 'x' then return read_hold(id, r.fresh[id] or call('HGET', r.holders, id)) end
  if r.id ~= id then return nil end
  return {id = id, ends = r.expiry - r.delay * 1000, lease = r.lease, part = r.last, delay = r.delay, claimed = r.claimed,
          slots = '', owner = r.owner}
end

-- Every hold and every ghost.
local function find_all(r)
  if r.n == 0 then return {} end
  if r.mode == 'x' then return {find(r, r.id)} end
  local all, holds = call('HGETALL', r.holders), {}
  for i = 1, #all, 2 do holds[#holds + 1] = read_hold(all[i], all[i + 1]) end
  return holds
end

-- Changes a hold in r: save() writes it to the server.
local function put(r, hold)
  local expiry = hold.ends + hold.delay * 1000
  if r.mode == 'x' then
    r.id, r.expiry, r.lease, r.delay, r.claimed, r.owner = hold.id, expiry, hold.lease, hold.delay, hold.claimed, hold.owner
    r.dirty = true
  else
    r.fresh[hold.id] = struct.pack('>I7I6I7I6BI4', expiry, hold.lease, hold.part, hold.delay, hold.claimed and 1 or 0,
                                   #hold.slots) .. hold.slots .. hold.owner
    if expiry < r.expiry then r.expiry, r.dirty = expiry, true end
    if hold.lease > r.lease then r.lease, r.dirty = hold.lease, true end
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
    r.mode, r.expiry, r.lease = mode, math.huge, 0
    if mode ~= 'x' then
      -- The server may have lost the state and kept the hash.
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

local function empty(r) r.mode, r.n, r.expiry, r.lease, r.upgrader, r.dirty = 'x', 0, 0, 0, nil, true end

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

-- Frees the permits of dead holders, or rebuilds the map from the live ones: whichever is less work. Only the latter is
-- right if the server has lost holders.
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

-- Whether the name must be checked: something may have expired, or the clock was set back.
local function is_due(r, now) return r.expiry <= now or r.expiry > now + r.lease * 1000 end

-- Splits the fields of the hash into dead holders and live ones, whose times are cut to their leases.
local function sort_holds(r, now)
  local all, ids, dead, living = call('HGETALL', r.holders), {}, {}, {}
  r.expiry, r.lease, r.dirty = math.huge, 0, true
  for i = 1, #all, 2 do
    local text, expiry, lease = all[i + 1], 0, 0
    if #text >= 31 then expiry, lease = struct.unpack('>I7I6', text) end
    if expiry <= now then
      ids[#ids + 1], dead[#dead + 1] = all[i], text
    else
      if expiry > now + lease * 1000 then
        expiry = now + lease * 1000
        text = struct.pack('>I7', expiry) .. string.sub(text, 8)
        r.fresh[all[i]] = text
      end
      living[#living + 1] = text
      r.expiry, r.lease = math.min(r.expiry, expiry), math.max(r.lease, lease)
    end
  end
  return ids, dead, living
end

-- Removes holds and ghosts that have expired.
local function reap(r, now)
  if r.n == 0 or not is_due(r, now) then return end
  if r.mode == 'x' then
    if r.expiry <= now then return empty(r) end
    r.expiry, r.dirty = now + r.lease * 1000, true
    return
  end
  local before = r.n
  local ids, dead, living = sort_holds(r, now)
  for from = 1, #ids, 1000 do call('HDEL', r.holders, unpack(ids, from, math.min(from + 999, #ids))) end
  r.n = #living
  if r.n == 0 then return empty(r) end
  if r.mode == 'p' then reap_slots(r, before, dead, living) end
  local hold = r.upgrader and find(r, r.upgrader)
  if hold and hold.ends > now then r.expiry = math.min(r.expiry, hold.ends) end
end

local function pack(r)
  local flags = r.waits and 4 or 0
  if r.n == 0 then return struct.pack('>c2Bc1I4I7I7I6c16', 'T1', flags, 'x', r.dies, 0, r.last, 0, nobody) end
  if r.mode ~= 'x' then
    return struct.pack('>c2Bc1I4I7I7I6I4c16I4I4c0', 'T1', flags + 17, r.mode, r.dies, r.expiry, r.last, r.lease, r.n,
                       r.upgrader or nobody, r.capacity, r.taken, r.map)
  end
  flags = flags + (r.claimed and 1 or 3) + (r.delay > 0 and 8 or 0)
  return struct.pack('>c2Bc1I4I7I7I6c16', 'T1', flags, 'x', r.dies, r.expiry, r.last, r.lease, r.id) ..
         (r.delay > 0 and struct.pack('>I6', r.delay) or '') .. r.owner
end

-- Whether the time to live must be renewed: it is not much longer than `live` from now, or than the leases in the keys.
local function is_old(r, now, live)
  live = math.max(live or 0, r.n > 0 and r.lease * 3 or 0, r.dies == 0 and 60000 or 0)
  return live > 0 and r.dies * 1000000 <= now + live * 937, live
end

local function expire(r, ms)
  call('PEXPIRE', r.queue, ms)
  call('PEXPIRE', r.waiters, ms)
end

-- Writes the changes to the server. `live` is how long the keys must live from now; without it, or while most of that is
-- left, their time to live does not change.
local function save(r, now, live)
  local fields = {}
  for id, text in pairs(r.fresh) do
    fields[#fields + 1] = id
    fields[#fields + 1] = text
  end
  for from = 1, #fields, 2000 do call('HSET', r.holders, unpack(fields, from, math.min(from + 1999, #fields))) end
  if not r.dirty and not r.granted then return end
  local old, ms = is_old(r, now, live)
  -- cluster: old = old and not r.apart
  if old then
    r.dies = (now / 1000 + ms) / 1000
    call('SET', r.key, pack(r), 'PX', ms)
  else
    if r.dirty then call('SET', r.key, pack(r), 'KEEPTTL') end
    ms = math.max(1, math.floor(r.dies * 1000 - now / 1000))
  end
  if r.waits and (old or r.queue_is_new) then expire(r, ms) end
  if r.n > 0 and r.mode ~= 'x' and (old or r.begins) then call('PEXPIRE', r.holders, ms) end
end
