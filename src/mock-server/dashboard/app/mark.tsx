/** A checked receipt leaving a till. The icon in page.html is the same. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
      <path class="mark-paper" d="M9 3h14v15H9z" />
      <path class="mark-sign" d="m12.5 10 2.5 2.5 4.5-5" />
      <path class="mark-till" d="M4 16h24l2 9v4H2v-4z" />
      <path class="mark-slot" d="M9 20.5h14" />
    </svg>
  );
}
