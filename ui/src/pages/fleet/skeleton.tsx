// The same geometry in grey while the first list is on its way, so that nothing jumps when it comes.
import { useEffect, useState } from 'preact/hooks'

// What comes sooner needs no skeleton.
const QUIET_MS = 150

export function Skeleton() {
  const [shown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), QUIET_MS)
    return () => clearTimeout(timer)
  }, [])
  if (!shown) return <main class="page" aria-busy="true" />
  return (
    <main class="page skel" aria-busy="true" aria-label="Loading the fleet">
      <div class="pagehead">
        <p class="lead">Loading the fleet</p>
      </div>
      <div class="split">
        <div class="pools">
          {[10, 10, 5].map((size) => (
            <section class="panel pool wide">
              <div class="body">
                <div class="nodes">
                  {Array.from({ length: size }, () => (
                    <div class="node">
                      <span class="nm">node</span>
                      <span class="quay">
                        {Array.from({ length: 8 }, () => (
                          <span class="berth" />
                        ))}
                      </span>
                    </div>
                  ))}
                </div>
              </div>
            </section>
          ))}
        </div>
      </div>
    </main>
  )
}
