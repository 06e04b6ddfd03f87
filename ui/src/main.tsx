import { render } from 'preact'
import { startSession } from './api/session'
import { App } from './app'
import './style/tokens.css'
import './style/parts.css'
import './style/app.css'
import './style/deploy.css'
import './style/pages.css'

startSession()
render(<App />, document.getElementById('app')!)
