// What models need on the cluster: each provider, whether it is there, and its steps with live progress.
import { useState } from 'preact/hooks'
import { get, post } from '../../api/client'
import { link } from '../../api/stream'
import type { Installation, Provider, ProviderStatus, State, Step } from '../../api/types'
import { useAnswer } from '../../parts/asked'
import { Icon, Status, type IconName } from '../../parts/icon'
import { Panel, Refused } from '../../parts/panel'
import { Copy } from '../../parts/proposals'
import { installations } from '../../state/live'

const WORKING = new Set(['Pending', 'Checking', 'Installing', 'Upgrading', 'RollingBack', 'Uninstalling'])
const STEPS: Record<Step['state'], [IconName, string]> = {
  Waiting: ['unknown', 'off'],
  Running: ['work', 'work'],
  Done: ['ok', 'ok'],
  Failed: ['bad', 'bad'],
  Skipped: ['minus', 'off'],
  Cancelled: ['cordon', 'wait'],
}

export function InstallationPage() {
  const providers = useAnswer(async (signal) => (await get<{ providers: Provider[] }>('/settings/providers', signal)).providers, [])
  document.title = 'Installation · Mooring'
  return (
    <main class="page">
      <div class="pagehead">
        <div>
          <h1>Installation</h1>
          <p class="muted">What runs models on this cluster. Helm acts with your own rights.</p>
        </div>
      </div>
      {providers.error && !providers.value ? <Refused asked="the providers" error={providers.error} retry={providers.again} /> : null}
      <div class="installs">
        {providers.value?.map((provider) => (
          <InstallPanel key={provider.id} target={provider} path={`/installation/providers/${provider.id}`} />
        ))}
        {providers.value && <InstallPanel target={GPU_OPERATOR} path="/installation/gpu-operator" />}
      </div>
    </main>
  )
}

type Target = Pick<Provider, 'id' | 'name' | 'description'>
const GPU_OPERATOR: Target = {
  id: 'gpu-operator',
  name: 'GPU Operator',
  description: "NVIDIA's operator: drivers, the device plugin that gives GPUs to pods, and the label by which deployments find GPU nodes.",
}

function InstallPanel({ target, path }: { target: Target; path: string }) {
  const live = installations.all.value.find((each) => each.name === target.id)
  const status = useAnswer((signal) => get<ProviderStatus>(`${path}/status`, signal), [path, live], 100)
  const [problem, setProblem] = useState('')
  const [asking, setAsking] = useState('')
  const act = async (action: string, body: unknown = {}) => {
    setProblem('')
    setAsking(action)
    try {
      await post(`${path}/${action}`, body)
      status.again()
    } catch (error) {
      setProblem((error as Error).message)
    } finally {
      setAsking('')
    }
  }
  const installation = live ?? status.value?.installation
  const working = installation ? WORKING.has(installation.phase) : false
  const lost = link.value.state === 'lost'
  const installable = (status.value?.helmCommands.length ?? 0) > 0
  return (
    <Panel title={target.name} side={<Phase status={status.value} installation={installation} />}>
      <div class="body install">
        <p class="soft">{target.description}</p>
        {(installation?.message || status.value?.message) && <p class="small">{installation?.message || status.value?.message}</p>}
        {problem && (
          <p class="said c-bad" role="alert">
            <Icon name="bad" />
            {problem}
          </p>
        )}
        {installation?.releases.map((release) => (
          <p class="small muted">
            {release.namespace}/{release.name}: {release.chart} {release.version}, revision {release.revision}, {release.status}
          </p>
        ))}
        {installation && installation.steps.length > 0 ? <Progress steps={installation.steps} /> : status.value && <ByHand status={status.value} />}
        {installable && (
          <div class="row wrap">
            {working ? (
              <button type="button" class="btn" disabled={!!asking || lost} onClick={() => act('cancel')}>
                Cancel
              </button>
            ) : status.value?.installed || installation ? (
              <>
                <button type="button" class="btn" disabled={!!asking || lost} onClick={() => act('upgrade')}>
                  Upgrade
                </button>
                {(installation?.releases[0]?.revision ?? 0) > 1 && (
                  <button type="button" class="btn" disabled={!!asking || lost} onClick={() => act('rollback', { revision: installation!.releases[0]!.revision - 1 })}>
                    Roll back to revision {installation!.releases[0]!.revision - 1}
                  </button>
                )}
                <button type="button" class="btn quiet" disabled={!!asking || lost} onClick={() => confirm(`Uninstall ${target.name}? Its definitions and workloads stay.`) && act('uninstall')}>
                  Uninstall
                </button>
              </>
            ) : (
              <button type="button" class="btn primary" disabled={!!asking || lost} onClick={() => act('install')}>
                Install
              </button>
            )}
          </div>
        )}
      </div>
    </Panel>
  )
}

function Phase({ status, installation }: { status: ProviderStatus | undefined; installation: Installation | undefined }) {
  // Nothing is said before it is known.
  if (!status && !installation) return null
  const phase = installation?.phase ?? (status?.installed ? 'Installed' : 'Not installed')
  const state: State = WORKING.has(phase) ? 'Progressing' : phase === 'Installed' ? 'Ready' : phase === 'Failed' ? 'Failed' : phase === 'Cancelled' ? 'Pending' : 'Unknown'
  return (
    <span class="end">
      <Status state={state}>
        {phase}
        {status?.version ? ` ${status.version}` : ''}
      </Status>
    </span>
  )
}

function Progress({ steps }: { steps: readonly Step[] }) {
  return (
    <ol class="steps" aria-label="Steps">
      {steps.map((step) => {
        const [icon, tone] = STEPS[step.state]
        return (
          <li key={step.name}>
            <Icon name={icon} tone={tone} title={step.state} />
            <div>
              <b class="med">{step.title}</b>
              {step.command && <code class="cmd">{step.command}</code>}
              {step.output && (step.state === 'Running' || step.state === 'Failed') && (
                <pre class="code" tabIndex={0} aria-label={`Output of ${step.title}`}>
                  {step.output}
                </pre>
              )}
            </div>
          </li>
        )
      })}
    </ol>
  )
}

function ByHand({ status }: { status: ProviderStatus }) {
  const steps = status.installationSteps ?? status.helmCommands.map((command) => ({ title: '', description: '', command }))
  if (!steps.length) return null
  return (
    <details>
      <summary>By hand</summary>
      <ol class="steps">
        {steps.map((step) => (
          <li>
            <span />
            <div>
              {step.title && <b class="med">{step.title}</b>}
              {step.description && <p class="small soft">{step.description}</p>}
              {step.command && (
                <>
                  <code class="cmd">{step.command}</code>
                  <Copy text={step.command} label="Copy" />
                </>
              )}
            </div>
          </li>
        ))}
      </ol>
    </details>
  )
}
