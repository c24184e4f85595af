-- For the scripts that include this file.

-- A message to the client that made this id: the first half of an id is that client's nonce. It is only a hint, so a server
-- that does not allow it (ACL) is no failure: the client looks again by itself.
local function tell(id, kind, words)
  local prefix = string.match(KEYS[1], '^[^{]*')
  redis.pcall('PUBLISH', prefix .. 'inbox:' .. string.format('%02x%02x%02x%02x%02x%02x%02x%02x', string.byte(id, 1, 8)),
              kind .. id .. (words or ''))
end
