const texts = {
  recorded: ['One moment', 'We are preparing your payment. This may take a minute or two.'],
  sending: ['One moment', 'We are preparing your payment.'],
  created: [
    'Waiting for your payment',
    'This page changes as soon as it has arrived. You may close it: nothing gets lost.',
  ],
  unresolved: [
    'We are checking your payment',
    'Please do not pay or order again. This page changes as soon as we know more.',
  ],
  declined: ['Your payment was declined', 'Your order is not paid. You may try again.'],
  rejected: ['Your payment was not accepted', 'Nothing was charged. You may try again.'],
  paid: ['Thank you, it is paid', 'Your tea is on its way.'],
  // A status of your account's payments: the interface names none but `paid`.
  refunded: ['Your payment was refunded', 'You will receive the money in a few days.'],
};

const find = (id) => document.getElementById(id);

function show({ payment, status, isPaid, paymentUrl }) {
  const shown = status === 'refunded' ? status : isPaid ? 'paid' : payment;
  const [title, text] = texts[shown] ?? texts.recorded;
  find('title').textContent = title;
  find('text').textContent = text;
  const mayTryAgain = !isPaid && ['declined', 'rejected'].includes(payment);
  find('pay').hidden = !mayTryAgain;
  find('go').hidden = isPaid || mayTryAgain || !/^https?:/.test(paymentUrl);
  find('go').href = `${paymentUrl}?returnUrl=${encodeURIComponent(location.href)}`;
}

function listen() {
  const events = new EventSource(`${location.pathname}/events`);
  events.onmessage = ({ data }) => {
    show(JSON.parse(data)); // after it is paid, too: a refund may follow
  };
  events.onerror = () => {
    // The browser reconnects by itself, except after an error response.
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, 5_000);
  };
}

// The customer is back from paying, or was sent here by the click on "Pay".
if (location.pathname !== '/') {
  find('offer').hidden = true;
  find('pay').hidden = true;
  find('button').textContent = 'Try again';
  find('order').hidden = false;
  listen();
}
