// Signing in by hand, for those who did not open the printed address or whose token has ended. The page stays where it was.
import { useState } from 'preact/hooks'
import { get } from '../api/client'
import { ApiProblem } from '../api/problem'
import { expired, signIn, token } from '../api/session'
import { Brand } from './brand'

export function SignIn({ done }: { done: () => void }) {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState(expired.value && token.value ? 'The token is no longer valid. Sign in again to go on where you were.' : '')
  const submit = async (event: Event) => {
    event.preventDefault()
    if (!text.trim()) return setProblem('Paste a token first.')
    signIn(text)
    try {
      await get('/session')
      done()
    } catch (error) {
      setProblem(error instanceof ApiProblem && error.status === 401 ? 'The server does not know this token.' : String((error as Error).message))
    }
  }
  return (
    <main class="page">
      <div class="sign-in-brand">
        <Brand />
      </div>
      <form class="panel sign-in" onSubmit={submit} noValidate>
        <h1>Sign in</h1>
        <p class="soft">
          <code>mooring up</code> and <code>mooring ui</code> print an address that signs you in. Or paste a token of the cluster; <code>mooring token create NAME</code> makes one.
        </p>
        <label class="field">
          <span class="lab">Token</span>
          <span class={`input${problem ? ' bad' : ''}`}>
            <input type="password" autocomplete="off" value={text} onInput={(event) => setText(event.currentTarget.value)} aria-describedby="sign-in-problem" aria-invalid={!!problem} />
          </span>
        </label>
        <p id="sign-in-problem" class="small c-bad" role="status">
          {problem}
        </p>
        <div class="row">
          <button class="btn primary">Sign in</button>
        </div>
      </form>
    </main>
  )
}
