// Deploying a model: the form, where it would land, and what would help, before anything is written.
import { useState } from 'preact/hooks'
import { get, post } from '../../api/client'
import { ApiProblem } from '../../api/problem'
import { link } from '../../api/stream'
import type { DeploymentConfig, Fit, Model, Preview, Proposal } from '../../api/types'
import { useAnswer } from '../../parts/asked'
import { Icon } from '../../parts/icon'
import { Loading } from '../../parts/loading'
import { Refused } from '../../parts/panel'
import { brings, Copy } from '../../parts/proposals'
import { go } from '../../router'
import { nodes } from '../../state/live'
import { count } from '../../words'
import { yaml } from '../../yaml'
import { change, configOf, nameOf, needsGpu, readForm, type Form } from './form'
import { Future } from './future'
import { Landing } from './landing'
import { ModelPicker } from './model-picker'
import { SelectorEditor } from './selector-editor'
import { isRefused, verdictWords } from './verdict'

const TYPING_MS = 150
const GPU_CHOICES = [1, 2, 4, 8]
const ENGINES: Record<string, string> = { vllm: 'vLLM', preset: 'Preset', premade: 'llama.cpp', huggingface: 'llama.cpp' }

export function DeployPage() {
  const models = useAnswer(async (signal) => (await get<{ models: Model[] }>('/models', signal)).models, [])
  document.title = 'Deploy a model · Mooring'
  if (models.error && !models.value)
    return (
      <main class="page">
        <h1 class="vh">Deploy a model</h1>
        <Refused asked="the models" error={models.error} retry={models.again} />
      </main>
    )
  return models.value ? <Deploy models={models.value} /> : <Loading what="the models" rail />
}

function Deploy({ models }: { models: Model[] }) {
  const form = readForm(models)
  const model = models.find((each) => each.id === form.model)
  const config = configOf(form, model)
  const asked = JSON.stringify(config)
  // The fleet changes under the form: the answer is asked for again when nodes do.
  const fit = useAnswer((signal) => post<Fit>('/deployments/fit?advice=false', config, signal), [asked, nodes.all.value], TYPING_MS)
  // Trying out what would help takes longer than all the rest, and is of no use where everything lands.
  const waits = fit.value !== undefined && fit.value.verdict !== 'lands' && !fit.pending
  const advice = useAnswer(async (signal) => (waits ? (await post<Fit>('/deployments/fit', config, signal)).advice : []), [asked, waits, nodes.all.value.length])
  const preview = useAnswer((signal) => post<Preview>('/deployments/preview', config, signal), [asked], TYPING_MS)
  const [pointed, point] = useState<Proposal | undefined>()
  const [tab, setTab] = useState<'fit' | 'manifest'>('fit')
  const [sending, setSending] = useState(false)
  const [refused, setRefused] = useState<ApiProblem | undefined>()
  const problem = refused ?? (fit.error instanceof ApiProblem && fit.error.status < 500 ? fit.error : undefined)
  const submit = async (event?: Event) => {
    event?.preventDefault()
    setSending(true)
    setRefused(undefined)
    try {
      const made = await post<{ name: string; namespace: string; kind?: string }>('/deployments', config)
      go(`/workloads/${made.kind ?? preview.value?.resources[0]?.kind ?? 'Workspace'}/${made.namespace}/${made.name}`)
    } catch (error) {
      setRefused(error instanceof ApiProblem ? error : new ApiProblem(0, String(error)))
    } finally {
      setSending(false)
    }
  }
  const lands = fit.value?.verdict === 'lands'
  const lost = link.value.state === 'lost'
  return (
    <main class="page" onKeyDown={(event) => (event.metaKey || event.ctrlKey) && event.key === 'Enter' && submit()}>
      <div class="pagehead base">
        <h1>Deploy a model</h1>
        <span class="muted">Nothing changes in the cluster until you press Deploy.</span>
      </div>
      <div class="deploy">
        <div class="left">
          <form class="panel" onSubmit={submit} noValidate>
            <Fields form={form} models={models} model={model} problem={problem} />
            <div class="sec">
              <SelectorEditor labels={form.labels} problem={problem?.of('labelSelector')} onChange={(labels) => change({ labels })} />
              <div class={`count3${fit.pending ? ' muted' : ''}`} role="status" aria-label="Nodes for this selector">
                {fit.value ? (
                  <>
                    <div>
                      <b>{fit.value.matching}</b>match
                    </div>
                    <div>
                      <b>{fit.value.ready}</b>ready
                    </div>
                    <div>
                      <b>{fit.value.fits}</b>fit
                    </div>
                  </>
                ) : (
                  <div>asking</div>
                )}
              </div>
            </div>
            {problem && !problem.fields.length && (
              <p class="said c-bad sec" role="alert">
                <Icon name="bad" />
                {problem.message}
              </p>
            )}
            <div class="foot">
              <p class="grow">{footnote(fit.value, config)}</p>
              <span class="kbd" aria-hidden="true">
                ⌘ ↵
              </span>
              <button class={`btn${lands ? ' primary' : ''}`} disabled={sending || lost || !!problem} title={lost ? 'The connection is lost' : undefined}>
                {sending ? 'Deploying' : lands || !fit.value || isRefused(fit.value) ? 'Deploy' : 'Deploy and wait'}
              </button>
            </div>
          </form>
          <Future preview={preview.value} namespace={form.namespace} />
        </div>
        <div class="right">
          <section class="panel" aria-live="polite" aria-label="Whether it lands">
            <Verdict fit={fit.value} error={fit.error} />
            {fit.value && fit.value.verdict !== 'lands' && (
              <Advice advice={advice.value ?? []} asking={advice.pending} wanted={fit.value.pods.wanted} form={form} point={point} />
            )}
          </section>
          <section class="panel" aria-label="Preview">
            <div class="tabbar">
              <div class="tabs" role="tablist">
                <button type="button" role="tab" aria-selected={tab === 'fit'} onClick={() => setTab('fit')}>
                  Where it lands
                </button>
                <button type="button" role="tab" aria-selected={tab === 'manifest'} onClick={() => setTab('manifest')}>
                  Manifest
                </button>
              </div>
            </div>
            {tab === 'fit' ? <Landing fit={fit.value} name={form.name} pointed={pointed?.nodes} /> : <Manifest preview={preview.value} />}
          </section>
        </div>
      </div>
    </main>
  )
}

function Fields({ form, models, model, problem }: { form: Form; models: Model[]; model: Model | undefined; problem: ApiProblem | undefined }) {
  const pick = (chosen: Model) => change({ model: chosen.id, name: nameOf(chosen), source: chosen.sources[0]!, gpus: Math.max(1, chosen.gpu.recommended.gpus) })
  const text = (field: 'name' | 'namespace', title: string) => (
    <label class="field">
      <span class="lab">{title}</span>
      <span class={`input${problem?.of(field) ? ' bad' : ''}`}>
        <input value={form[field]} spellcheck={false} autocomplete="off" aria-invalid={!!problem?.of(field)} onInput={(event) => change({ [field]: event.currentTarget.value })} />
      </span>
      {problem?.of(field) && <span class="said c-bad">{problem.of(field)}</span>}
    </label>
  )
  return (
    <div class="sec">
      <ModelPicker models={models} model={model} onPick={pick} />
      <div class="two">
        {text('name', 'Name')}
        {text('namespace', 'Namespace')}
      </div>
      <div class="two">
        <Choice title="Engine" choices={(model?.sources ?? []).map((source) => [source, ENGINES[source] ?? source])} value={form.source} onChoose={(source) => change({ source })} />
        <Choice title="Runs on" choices={needsGpu(form.source) ? [['gpu', 'GPU']] : [['gpu', 'GPU'], ['cpu', 'CPU']]} value={form.compute} onChoose={(compute) => change({ compute: compute as 'gpu' | 'cpu' })} />
      </div>
      <div class="two">
        {form.compute === 'gpu' ? (
          <Choice title="GPUs per pod" choices={GPU_CHOICES.map((n) => [String(n), String(n)])} value={String(form.gpus)} onChoose={(gpus) => change({ gpus: Number(gpus) })} />
        ) : (
          <span />
        )}
        <div>
          <span class="lab" id="replicas-label">
            Replicas
          </span>
          <div class="stepper" role="group" aria-labelledby="replicas-label">
            <button type="button" aria-label="One replica less" disabled={form.replicas <= 1} onClick={() => change({ replicas: form.replicas - 1 })}>
              <Icon name="minus" />
            </button>
            <output>{form.replicas}</output>
            <button type="button" aria-label="One replica more" disabled={form.replicas >= 10} onClick={() => change({ replicas: form.replicas + 1 })}>
              <Icon name="plus" />
            </button>
          </div>
          {problem?.of('replicas') && <span class="said c-bad">{problem.of('replicas')}</span>}
        </div>
      </div>
      {model && <p class="help">{model.description}</p>}
    </div>
  )
}

function Choice({ title, choices, value, onChoose }: { title: string; choices: [string, string][]; value: string; onChoose: (value: string) => void }) {
  return (
    <div>
      <span class="lab">{title}</span>
      <div class="seg" role="group" aria-label={title}>
        {choices.map(([each, name]) => (
          <button type="button" aria-pressed={each === value} onClick={() => onChoose(each)}>
            {name}
          </button>
        ))}
      </div>
    </div>
  )
}

function footnote(fit: Fit | undefined, config: DeploymentConfig): string {
  if (!fit) return ''
  const gpus = (config.resources?.gpu ?? 0) * fit.pods.wanted
  if (fit.verdict === 'lands') return `${count(fit.pods.wanted, 'pod')}${gpus ? `, ${count(gpus, 'GPU')}` : ''}.`
  if (isRefused(fit)) return 'It would be refused.'
  return fit.pods.land ? `${fit.pods.land} of ${count(fit.pods.wanted, 'pod')} would land.` : fit.pods.wanted === 1 ? 'The pod would wait.' : `All ${fit.pods.wanted} pods would wait.`
}

function Verdict({ fit, error }: { fit: Fit | undefined; error: unknown }) {
  if (error && !fit)
    return (
      <div class="verdict">
        <Icon name="unknown" tone="off" />
        <h2>It could not be asked</h2>
        <p>{(error as Error).message}</p>
      </div>
    )
  if (!fit)
    return (
      <div class="verdict">
        <Icon name="work" tone="work" />
        <h2>Asking where it would land</h2>
        <p>&nbsp;</p>
      </div>
    )
  const { icon, tone, title, text } = verdictWords(fit)
  return (
    <div class="verdict">
      <Icon name={icon} tone={tone} />
      <h2>{title}</h2>
      <p>{text}</p>
    </div>
  )
}

/** Proposals here change the form, not the cluster: nothing is there yet. Those that change the cluster are shown to copy. */
function Advice({ advice, asking, wanted, form, point }: { advice: readonly Proposal[]; asking: boolean; wanted: number; form: Form; point: (proposal: Proposal | undefined) => void }) {
  return (
    <div class="props">
      <h3>{asking ? 'Trying out what would help' : advice.length ? 'What would help, tried out on the fleet as it is now' : 'No change that was tried would help.'}</h3>
      {advice.map((proposal, index) => {
        const next = inForm(proposal, form)
        return (
          <div class="prop" key={proposal.text} onMouseEnter={() => point(proposal)} onMouseLeave={() => point(undefined)} onFocusCapture={() => point(proposal)} onBlurCapture={() => point(undefined)}>
            <span class="no" aria-hidden="true">
              {index + 1}
            </span>
            <div>
              <div class="med">{proposal.text}</div>
              <div class="brings">{brings(proposal, wanted)}</div>
            </div>
            <div class="btns">
              {next ? (
                <button type="button" class="btn sm" onClick={() => change(next)}>
                  Apply
                </button>
              ) : (
                proposal.command && <Copy text={proposal.command} />
              )}
            </div>
          </div>
        )
      })}
    </div>
  )
}

const SELECTOR = /^\/(?:resource|spec)\/(?:labelSelector\/matchLabels|nodeSelector)\/(.+)$/

/** What a proposal comes to in the form, where the form can say it. */
export function inForm(proposal: Proposal, form: Form): Partial<Form> | undefined {
  const next: Partial<Form> = {}
  for (const edit of proposal.edits ?? []) {
    const key = SELECTOR.exec(edit.path)?.[1]?.replaceAll('~1', '/').replaceAll('~0', '~')
    const labels = next.labels ?? form.labels
    if (key && labels.some(([each]) => each === key)) {
      next.labels = edit.after === null ? labels.filter(([each]) => each !== key) : labels.map(([each, value]) => [each, each === key ? String(edit.after) : value])
    } else if (key && edit.before === null && edit.after !== null) {
      next.labels = [...labels, [key, String(edit.after)]]
    } else if (/nvidia\.com~1gpu$/.test(edit.path) && edit.after !== null) next.gpus = Number(edit.after)
    else if (/\/(replicas|count)$/.test(edit.path) && edit.after !== null) next.replicas = Number(edit.after)
    else return undefined
  }
  return Object.keys(next).length ? next : undefined
}

function Manifest({ preview }: { preview: Preview | undefined }) {
  const text = (preview?.resources ?? []).map((each) => yaml(each.manifest)).join('---\n')
  return (
    <div class="tab-man">
      {preview?.warnings?.map((warning) => (
        <p class="said c-wait">
          <Icon name="wait" />
          {warning}
        </p>
      ))}
      <pre class="code" tabIndex={0} aria-label="Manifest">
        {text}
      </pre>
      <Copy text={text} label="Copy" />
    </div>
  )
}
