// Makes blocks that scroll sideways reachable and scrollable from the keyboard.
const WIDE = 'pre > code, .tsd-typography table, .tsd-signature';
const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute('tabindex');
  }
});
for (const element of document.querySelectorAll(WIDE)) sizes.observe(element);

const copy = document.querySelector('.site-copy');
if (copy) {
  const [button, template] = copy.children;
  copy.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(template.content.textContent);
    button.textContent = 'Copied';
  });
}

// Guides before the symbols that have a word in their names.
addEventListener('DOMContentLoaded', () =>
  window.PagefindComponents?.configureInstance('default', {
    ranking: { metaWeights: { title: 1 } },
  }),
);
// Before TypeDoc's own search, which is hidden.
addEventListener(
  'keydown',
  (event) => {
    const isShortcut = event.key === '/' || (event.key === 'k' && (event.ctrlKey || event.metaKey));
    if (!isShortcut || event.target.matches('input, textarea')) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    document.querySelector('pagefind-modal').open();
  },
  true,
);

// The first group of the navigation is open until the reader closes it.
const navigation = document.querySelector('#tsd-nav-container');
if (navigation) {
  const watching = new MutationObserver(() => {
    const group = navigation.querySelector('details');
    if (!group) return;
    watching.disconnect();
    const key = group.querySelector('summary')?.dataset.key;
    if (localStorage.getItem(`tsd-accordion-${key}`) === null) group.open = true;
  });
  watching.observe(navigation, { childList: true, subtree: true });
}
