-- Which of the permits of a name are taken, for the scripts that include this file.
--
-- A map has one bit per permit, the lowest first; the bits after the last permit are set. The permits of one hold are
-- written as text, in runs: '0-2 7-7'.

local function add_run(runs, first, last)
  if first then runs[#runs + 1] = string.format('%d-%d', first, last) end
end

local function empty_map(capacity)
  return string.rep('\0', math.floor(capacity / 8)) .. (capacity % 8 > 0 and string.char(256 - 2 ^ (capacity % 8)) or '')
end

-- Takes the lowest free permits. The caller has checked that there are enough.
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

-- Takes exactly these permits (sign 1), or frees them (sign -1). Returns the map, and by how much the number of taken
-- permits changed.
local function mark_slots(map, runs, sign)
  local marked = 0
  for first, last in string.gmatch(runs, '(%d+)-(%d+)') do
    marked = marked + last - first + 1
    local from, to, text = math.floor(first / 8) + 1, math.floor(last / 8) + 1, {}
    for at = from, to do
      local byte = string.byte(map, at)
      for slot = math.max(first, at * 8 - 8), math.min(last, at * 8 - 1) do byte = byte + sign * 2 ^ (slot % 8) end
      text[#text + 1] = string.char(byte)
    end
    map = string.sub(map, 1, from - 1) .. table.concat(text) .. string.sub(map, to + 1)
  end
  return map, sign * marked
end
