// The whole page: who is signed in, the shell, and the view that the address names.
import { useEffect, useState } from 'preact/hooks'
import { expired, token } from './api/session'
import { link } from './api/stream'
import { Fleet } from './pages/fleet/page'
import { NotFound } from './pages/not-found'
import { path } from './router'
import { KeyHelp } from './shell/key-help'
import { listenToKeys } from './shell/keys'
import { LostConnection } from './shell/lost-connection'
import { SignIn } from './shell/sign-in'
import { TopBar } from './shell/top-bar'
import { live } from './state/live'
import { loadSession } from './state/session'

export function App() {
  const [signedIn, setSignedIn] = useState(token.value !== '')
  useEffect(() => listenToKeys(), [])
  useEffect(() => {
    if (expired.value) setSignedIn(false)
  }, [expired.value])
  useEffect(() => {
    if (!signedIn) return
    const ended = new AbortController()
    loadSession().catch(() => undefined)
    live(ended.signal)
    return () => ended.abort()
  }, [signedIn])
  if (!signedIn) return <SignIn done={() => setSignedIn(true)} />
  return (
    <div class={link.value.state === 'lost' ? 'stale' : ''}>
      <TopBar />
      {view()}
      <LostConnection />
      <KeyHelp />
    </div>
  )
}

function view() {
  const parts = path.value.split('/').filter(Boolean).map(decodeURIComponent)
  if (parts.length === 0) return <Fleet />
  return <NotFound />
}
