import { useEffect, useRef } from 'preact/hooks'
import { helpOpen, KEYS } from './keys'

export function KeyHelp() {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (helpOpen.value) dialog.current?.showModal()
    else dialog.current?.close()
  }, [helpOpen.value])
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="key-help" onClose={() => (helpOpen.value = false)}>
      <h2 id="key-help">Keys</h2>
      <dl class="kv">
        {KEYS.map(([key, what]) => (
          <>
            <dt>{what}</dt>
            <dd>
              <span class="kbd">{key}</span>
            </dd>
          </>
        ))}
      </dl>
    </dialog>
  )
}
