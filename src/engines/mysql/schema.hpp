// The tables, statement by statement. Each may be run again.
#pragma once

#include <array>

namespace tyer::mysql {

#define TYER_TABLE " ENGINE=InnoDB ROW_FORMAT=DYNAMIC"

inline constexpr std::array schema_ddl{
    "CREATE TABLE IF NOT EXISTS tyer_lock (name VARBINARY(2048) NOT NULL PRIMARY KEY, hold BINARY(16),"
    " claimed TINYINT NOT NULL DEFAULT 0, session BIGINT, token BIGINT NOT NULL DEFAULT 0, expires BIGINT NOT NULL,"
    " version BIGINT NOT NULL DEFAULT 0, joins BIGINT NOT NULL DEFAULT 0, crowd TINYINT NOT NULL DEFAULT 0, owner BLOB,"
    " state LONGBLOB)" TYER_TABLE,
    "CREATE TABLE IF NOT EXISTS tyer_wait (seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, id BINARY(16) NOT NULL,"
    " name VARBINARY(2048) NOT NULL, gone TINYINT NOT NULL DEFAULT 0, expires BIGINT NOT NULL, body BLOB NOT NULL,"
    " UNIQUE KEY tyer_wait_id (id), KEY tyer_wait_queue (name, gone, seq))" TYER_TABLE,
    "CREATE TABLE IF NOT EXISTS tyer_session (id BIGINT NOT NULL PRIMARY KEY, expires BIGINT NOT NULL,"
    " ended TINYINT NOT NULL DEFAULT 0, generation BIGINT NOT NULL DEFAULT 0)" TYER_TABLE,
    "CREATE TABLE IF NOT EXISTS tyer_bell (seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, client BINARY(8) NOT NULL,"
    " rung BIGINT NOT NULL, bell BLOB NOT NULL, KEY tyer_bell_client (client, seq))" TYER_TABLE,
    "CREATE TABLE IF NOT EXISTS tyer_schema (version INTEGER NOT NULL PRIMARY KEY)" TYER_TABLE,
    "INSERT IGNORE INTO tyer_schema SELECT 1 FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM (SELECT version FROM "
    "tyer_schema) s)",
};

#undef TYER_TABLE

}  // namespace tyer::mysql
