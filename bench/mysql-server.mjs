/** Where the MySQL or MariaDB is that is measured. */
export const mysqlUrl = process.env.MYSQL_URL ?? 'mysql://root@127.0.0.1:3306/test';

/** Whether a server answers. */
export async function hasMysql() {
  try {
    const { default: mysql } = await import('mysql2/promise');
    const connection = await mysql.createConnection({ uri: mysqlUrl, connectTimeout: 2000 });
    await connection.end();
    return true;
  } catch {
    return false;
  }
}
