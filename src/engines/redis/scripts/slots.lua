-- Which of the permits of a name are taken, for the scripts that include this file.
--
-- A map has one bit per permit, the lowest first; the bits behind the last permit are set. What one hold has is written as
-- text, in runs: '0-2 7-7'.

local function add_run(runs, first, last)
  if first then runs[#runs + 1] = string.format('%d-%d', first, last) end
end

-- A map on which these runs are taken, and how many permits they are.
local function map_of(capacity, all)
  local bytes, taken = {}, 0
  for at = 0, math.ceil(capacity / 8) - 1 do bytes[at] = 0 end
  for _, runs in ipairs(all) do
    for first, last in string.gmatch(runs, '(%d+)-(%d+)') do
      taken = taken + last - first + 1
      for slot = tonumber(first), tonumber(last) do
        local at = math.floor(slot / 8)
        bytes[at] = bytes[at] + 2 ^ (slot % 8)
      end
    end
  end
  if capacity % 8 > 0 then bytes[#bytes] = bytes[#bytes] + 256 - 2 ^ (capacity % 8) end
  local text = {}
  for at = 0, #bytes do text[at + 1] = string.char(bytes[at]) end
  return table.concat(text), taken
end

-- The lowest free permits. There are enough: that was asked before.
local function take_slots(map, take)
  local text, runs, from, first, last = {}, {}, 1, nil, nil
  while take > 0 do
    local at = string.find(map, '[^\255]', from)
    local byte, bit = string.byte(map, at), 1
    for slot = at * 8 - 8, at * 8 - 1 do
      if take > 0 and byte % (bit * 2) < bit then
        byte, take = byte + bit, take - 1
        if last ~= slot - 1 then
          add_run(runs, first, last)
          first = slot
        end
        last = slot
      end
      bit = bit * 2
    end
    text[#text + 1] = string.sub(map, from, at - 1) .. string.char(byte)
    from = at + 1
  end
  add_run(runs, first, last)
  return table.concat(text) .. string.sub(map, from), table.concat(runs, ' ')
end

local function free_slots(map, runs)
  local freed = 0
  for first, last in string.gmatch(runs, '(%d+)-(%d+)') do
    freed = freed + last - first + 1
    local from, to, text = math.floor(first / 8) + 1, math.floor(last / 8) + 1, {}
    for at = from, to do
      local byte = string.byte(map, at)
      for slot = math.max(first, at * 8 - 8), math.min(last, at * 8 - 1) do byte = byte - 2 ^ (slot % 8) end
      text[#text + 1] = string.char(byte)
    end
    map = string.sub(map, 1, from - 1) .. table.concat(text) .. string.sub(map, to + 1)
  end
  return map, freed
end
