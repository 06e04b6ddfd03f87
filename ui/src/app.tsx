// The whole page: who is signed in, the shell, and the view that the address names.
import { useEffect, useState } from 'preact/hooks'
import { expired, token } from './api/session'
import { ApiProblem } from './api/problem'
import { link, retryNow } from './api/stream'
import { DeployPage } from './pages/deploy/page'
import { Fleet } from './pages/fleet/page'
import { InstallationPage } from './pages/installation/page'
import { NotFound } from './pages/not-found'
import { NotebookList, NotebookPage } from './pages/notebooks/page'
import { PoolsPage } from './pages/pools/page'
import { WorkloadPage } from './pages/workloads/detail'
import { WorkloadList } from './pages/workloads/list'
import { Refused } from './parts/panel'
import { path } from './router'
import { KeyHelp } from './shell/key-help'
import { listenToKeys } from './shell/keys'
import { LostConnection } from './shell/lost-connection'
import { SignIn } from './shell/sign-in'
import { TopBar } from './shell/top-bar'
import { UndoNote } from './shell/undo-note'
import { live, nodes } from './state/live'
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
      {nodes.known.value && <LostConnection />}
      <UndoNote />
      <KeyHelp />
    </div>
  )
}

function view() {
  const parts = path.value.split('/').filter(Boolean).map(decodeURIComponent)
  const [page, ...rest] = parts
  // Before anything is known there is nothing to keep on the screen: what went wrong takes its place.
  if (link.value.state === 'lost' && !nodes.known.value && page !== 'installation')
    return (
      <main class="page">
        <h1 class="vh">Mooring</h1>
        <Refused asked="the cluster" error={new ApiProblem(link.value.status, link.value.why)} retry={retryNow} />
      </main>
    )
  if (!page) return <Fleet />
  if (page === 'deploy' && rest.length === 0) return <DeployPage />
  if (page === 'workloads' && rest.length === 0) return <WorkloadList />
  if (page === 'workloads' && rest.length === 3) return <WorkloadPage key={path.value} kind={rest[0]!} namespace={rest[1]!} name={rest[2]!} />
  if (page === 'pools' && rest.length === 0) return <PoolsPage />
  if (page === 'notebooks' && rest.length === 0) return <NotebookList />
  if (page === 'notebooks' && rest.length === 2) return <NotebookPage key={path.value} namespace={rest[0]!} name={rest[1]!} />
  if (page === 'installation' && rest.length === 0) return <InstallationPage />
  return <NotFound />
}
