import { describe, expect, it } from 'vitest';
import { commandIn } from '../../src/mysql/commands.js';

describe('what a statement does to the transaction', () => {
  it.each([
    ['begin', ['BEGIN', ' begin work ', 'START TRANSACTION', 'start transaction read write;']],
    ['isolate', ['START TRANSACTION WITH CONSISTENT SNAPSHOT', 'START TRANSACTION READ ONLY']],
    [
      'commit',
      ['COMMIT', 'commit work', 'COMMIT AND NO CHAIN NO RELEASE', '-- note\nCOMMIT', '--\nCOMMIT'],
    ],
    ['rollback', ['ROLLBACK', '# note\nrollback work', '/* note */ ROLLBACK']],
    [
      'other',
      [
        'COMMIT AND CHAIN',
        'ROLLBACK RELEASE',
        "XA START 'x'",
        'SET autocommit = 0',
        'SET @@SESSION.autocommit=1',
        'SET `autocommit` := 1',
        'SET NAMES utf8mb4, SESSION autocommit=1',
        'SELECT 1; COMMIT',
        'BEGIN; SELECT 1',
      ],
    ],
    [
      'implicit',
      [
        'CREATE TABLE a (b int)',
        'create or replace view a as select 1',
        'ALTER TABLE a ADD b int',
        'DROP TABLE a',
        'TRUNCATE a',
        'RENAME TABLE a TO b',
        'LOCK TABLES a READ',
        'UNLOCK TABLES',
        'GRANT ALL ON *.* TO a',
        "SET PASSWORD = 'secret'",
        'ANALYZE TABLE a',
        'OPTIMIZE LOCAL TABLE a',
        'FLUSH TABLES',
        '/*!50000 DROP TABLE a */',
        '/*M! DROP TABLE a */',
        '/*!50000 DROP TABLE a',
      ],
    ],
  ])('%s', (kind, statements) => {
    for (const sql of statements) {
      expect(commandIn(sql), sql).toMatchObject({ kind });
      expect(commandIn({ sql }), sql).toMatchObject({ kind });
    }
  });

  it.each([
    'SELECT 1',
    "SELECT 'a; COMMIT'",
    'SELECT "a; ROLLBACK"',
    "INSERT INTO notes VALUES ('it''s; COMMIT')",
    "SELECT 'a\\'; COMMIT'",
    "SELECT '''; COMMIT'",
    "SELECT 'a'';'; -- ; COMMIT",
    'SELECT `a; COMMIT`',
    'SELECT 1 /* ; COMMIT */ + 1',
    'SELECT 1; # COMMIT',
    // What is not closed reaches to the end.
    "SELECT 'a; COMMIT",
    "SELECT 'a; COMMIT\\",
    'SELECT `a; COMMIT',
    'SELECT 1; /* COMMIT',
    'ROLLBACK TO SAVEPOINT one',
    'ROLLBACK WORK TO one',
    'SAVEPOINT one',
    'BEGIN NOT ATOMIC SELECT 1; END',
    'CREATE TEMPORARY TABLE a (b int)',
    'DROP TEMPORARY TABLE a',
    'DROP PREPARE one',
    "SET @note = 'autocommit'",
    'SET @autocommit_before = 1',
    'SET TRANSACTION ISOLATION LEVEL READ COMMITTED',
    'ANALYZE FORMAT=JSON SELECT 1',
    '',
    ';',
  ])('nothing: %s', (sql) => expect(commandIn(sql)).toBeUndefined());

  it.each([undefined, null, 7, {}, { sql: 7 }])('nothing: %j', (config) => {
    expect(commandIn(config)).toBeUndefined();
  });

  it('names a command of several statements, which a comment, a text or a name may hide', () => {
    expect(commandIn('SELECT 1; COMMIT')).toEqual({ kind: 'other', words: 'COMMIT' });
    expect(commandIn('SELECT 1; DROP TABLE a')).toMatchObject({ kind: 'implicit' });
    expect(commandIn('DROP TABLE a CASCADE')).toEqual({ kind: 'implicit', words: 'DROP TABLE' });
    expect(commandIn('COMMIT/* a */AND CHAIN')).toEqual({
      kind: 'other',
      words: 'COMMIT AND CHAIN',
    });
  });

  it('is described without the password of an account', () => {
    expect(commandIn("CREATE USER a IDENTIFIED BY 'secret'")?.words).toBe('CREATE USER');
  });
});
