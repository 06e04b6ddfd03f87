// What the REST API answers with, as the page needs it. `docs/rest.md` describes every field.

export interface Taint { key: string; value?: string; effect: string }
export interface WorkloadRef { kind: string; namespace: string; name: string }

/** One GPU as a count, not as a device: Kubernetes does not number them. */
export interface Slot { index: number; pod?: string; namespace?: string; workload?: WorkloadRef }
export interface Gpu { kind: string; product?: string; memoryMiB?: number; total: number; free: number; slots: Slot[] }
export interface Amount { total: number; free: number }

export interface FleetNode {
  name: string
  ready: boolean
  notReadySince?: string
  cordoned: boolean
  pool: string
  zone?: string
  labels: Record<string, string>
  taints: Taint[]
  gpu: Gpu
  cpu: Amount
  memory: Amount
  pods: number
  createdAt?: string
}

/** One change, or several together, that was tried out before it is shown. */
export interface Proposal {
  title: string
  brings?: string
  command?: string | null
  patches?: Patch[]
  disruptive?: boolean
  nodes: string[]
  nodeCount: number
  edits: Edit[]
}
export interface Edit { target: string; op: string; path: string; before: unknown; after: unknown }
export interface Patch { apiVersion: string; kind: string; namespace?: string; name: string; type: string; body: unknown }

export interface Cause { plugin: string; text: string }
export interface Explanation {
  pod?: string
  lands: boolean
  message?: string
  blocked?: { nodes: string[]; causes: Cause[] }[]
  advice?: Proposal[]
}

export interface PodStatus { name: string; node?: string; phase: string; ready: boolean; restarts: number; reason?: string; gpus?: number; role?: string; group?: number }
export interface Condition { type: string; status: string; reason?: string; message?: string; lastTransitionTime?: string }

export interface Workload extends WorkloadRef {
  state: State
  message: string
  pods: { wanted: number; ready: number; pending: number }
  gpus: number
  nodes: string[]
  createdAt: string
}
/** The shapes that every page draws: see `parts/status`. */
export type State = 'Ready' | 'Progressing' | 'Pending' | 'Failed' | 'Succeeded' | 'Terminating' | 'Unknown'

export interface ClusterEvent {
  id: string
  type: 'Normal' | 'Warning'
  reason: string
  message: string
  count: number
  lastSeen: string
  object: WorkloadRef
}

export interface WorkloadDetail extends Workload {
  podList: PodStatus[]
  conditions: Condition[]
  events: ClusterEvent[]
  explanation?: Explanation
}

export interface Session { username: string; server: string; cluster?: string; version: string; provider: string; embedded: boolean }

export interface Model {
  id: string
  name: string
  description: string
  parameters?: string
  weightsGiB: number
  contextLength: number
  engines: string[]
  sources: string[]
  gpu: { memoryGiB: number; recommended: { gpus: number; nodes: number } }
}

export interface DeploymentConfig {
  name: string
  namespace: string
  modelId?: string
  premadeModel?: string
  modelSource: string
  computeType: 'gpu' | 'cpu'
  replicas: number
  nodes?: number
  resources?: { gpu?: number }
  labelSelector?: Record<string, string>
}

export interface FitNode { name: string; matches: boolean; ready: boolean; fits: boolean; reason: string }
export interface Fit {
  verdict: 'lands' | 'cannot' | 'may'
  message: string
  matching: number
  ready: number
  fits: number
  pods: { wanted: number; land: number }
  nodes: FitNode[]
  placements: { pod: string; node: string; gpus: number }[]
  blocked?: NonNullable<Explanation['blocked']>
  advice: Proposal[]
}
export interface Preview { resources: { kind: string; apiVersion: string; name: string; manifest: unknown }[]; warnings?: string[] }

export interface Pool { namespace: string; name: string; least: string; most: string; target: number; ready: number; freeHosts: number; state: string }
export interface Host { namespace: string; name: string; state: string; claimedBy?: string; pool?: string; labels: Record<string, string>; since?: string; message?: string }
export interface Decision { time: string; pool?: string; from?: number; to?: number; text: string; count?: number }
export interface Autoscaler { decisions: Decision[]; notes: string[] }

export interface NotebookJob {
  namespace: string
  name: string
  state: State
  phase: string
  message: string
  cells: { total: number; passed: number; failed: number; skipped: number }
  createdAt: string
  duration?: string
}
export interface Cell { index: number; status: string; duration: string; output: string; error: string }
export interface CellDifference { index: number; kind: string; severity: string; expected: string; actual: string; diff: string }
export interface NotebookDetail extends NotebookJob {
  cellList: Cell[]
  comparison?: { strategy: string; result: string; matched: number; total: number; differences: CellDifference[] }
  conditions: Condition[]
  events: ClusterEvent[]
}

export interface Step { name: string; title: string; command: string; state: 'Waiting' | 'Running' | 'Done' | 'Failed' | 'Skipped' | 'Cancelled'; startedAt?: string; finishedAt?: string; output?: string }
export interface Release { name: string; namespace: string; chart: string; version: string; appVersion?: string; revision: number; status: string }
export interface Installation { name: string; phase: string; message: string; steps: Step[]; releases: Release[]; suspended?: boolean }
export interface Provider { id: string; name: string; description: string; defaultNamespace: string }
export interface ProviderStatus {
  providerId: string
  providerName: string
  installed: boolean
  version?: string
  message?: string
  installationSteps: { title: string; command?: string; description: string }[]
  installation?: Installation
}
