/** A connection was released while its transaction was open. */
export class TransactionOpen extends Error {
  constructor() {
    super(
      'The pool returned a connection with an open transaction, so it was closed: end each transaction before you release its client, also when it fails',
    );
  }
}
