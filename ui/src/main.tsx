import { render } from 'preact'
import { startSession } from './api/session'
import { App } from './app'
import './style/tokens.css'
import './style/parts.css'
import './style/app.css'
import './style/deploy.css'

startSession()
render(<App />, document.getElementById('app')!)
