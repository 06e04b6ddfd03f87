// Runs before the page is drawn: a theme that somebody chose must not flash in late.
try {
  const asked = new URLSearchParams(location.search).get('theme') || localStorage.getItem('mooring.theme')
  if (asked === 'light' || asked === 'dark') document.documentElement.dataset.theme = asked
} catch {
  // Storage may be forbidden; the system's theme is fine then.
}
