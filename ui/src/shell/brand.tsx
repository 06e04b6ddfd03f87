// The bollard, and the name.
export function Brand() {
  return (
    <>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path fill="currentColor" fill-rule="evenodd" d="M10 1.5a4.7 4.7 0 0 1 1.6 9.12V14H18v3.5H2V14h6.4v-3.38A4.7 4.7 0 0 1 10 1.5Zm0 2.8a1.9 1.9 0 1 0 0 3.8 1.9 1.9 0 0 0 0-3.800Z" />
      </svg>
      Mooring
    </>
  )
}
