-- Who holds a name and who waits for it, for people. Writes nothing.
--
-- KEYS[1]  state (KEYS[2] queue, KEYS[3] waiters: may be left out)
-- ARGV[1]  most waiters to show
--
-- Answers a flat list, five words for each hold and waiter in the order of the queue:
-- h or w, id, ms left, token part (0 for a waiter), owner. Empty if something else lies there.
local state = redis.pcall('GET', KEYS[1])
if type(state) ~= 'string' or #state < 38 or string.sub(state, 1, 2) ~= 'T1' then return {} end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local words, n = {}, 0
local function add(...)
  for _, word in ipairs({...}) do
    n = n + 1
    words[n] = word
  end
end
local flags, expiry, last, holder = struct.unpack('>BxxxxxI7I7c16', state, 3)
if expiry > now then
  add('h', holder, string.format('%d', math.ceil((expiry - now) / 1000)), string.format('%.0f', last), string.sub(state, 39))
end
if flags < 4 then return words end
local ids = redis.call('ZRANGE', KEYS[2] or KEYS[1] .. 'q', 0, ARGV[1] - 1)
if #ids == 0 then return words end
local places = redis.call('HMGET', KEYS[3] or KEYS[1] .. 'w', unpack(ids))
for i, id in ipairs(ids) do
  local until_ = places[i] and struct.unpack('>I7', places[i]) or 0
  if until_ > now then add('w', id, string.format('%d', math.ceil((until_ - now) / 1000)), '0', string.sub(places[i], 15)) end
end
return words
