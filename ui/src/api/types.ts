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
  text: string
  /** How many pods have a place afterwards. */
  brings: number
  disruptive: boolean
  command?: string
  /** What the command does, for the button. Without it there is only something to copy. */
  writes?: Write[]
  nodes?: string[]
  edits?: Edit[]
}
export interface Edit { target: string; op: string; path: string; before: unknown; after: unknown }
/** One request about one object; `body` is a JSON patch of it, or of its scale, which tests what it changes. */
export interface Write { verb: 'patch' | 'scale' | 'evict' | 'delete'; apiVersion: string; kind: string; namespace?: string; name: string; body?: Operation[] }
/** What `apply` did, and the writes that bring back what was there before. */
export interface Applied { message: string; done: string[]; undo: Write[] }
export interface Operation { op: string; path: string; value?: unknown }

export interface Cause { plugin: string; text: string }
export interface Explanation {
  pod?: string
  lands: boolean
  message?: string
  blocked?: { nodes: string[]; causes: Cause[] }[]
  proposals?: Proposal[]
}
/** Of several pods, one entry each. */
export type Explained = Explanation | { pods: Explanation[] }

export interface PodStatus { name: string; node: string; phase: string; ready: boolean; restarts: number; gpus: number; createdAt: string; reason?: string; message?: string; group?: string }
export interface PodCounts { wanted: number; ready: number; pending: number }
export interface WorkloadGroup { name: string; pods: PodCounts; nodes: string[] }
export interface Condition { type: string; status: string; reason?: string; message?: string; lastTransitionTime?: string }

export interface Workload extends WorkloadRef {
  state: State
  message: string
  pods: PodCounts
  gpus: number
  nodes: string[]
  createdAt: string
  owner?: WorkloadRef
  groups?: WorkloadGroup[]
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

/** Where the number of pods stands, and the verb of `apply` that changes it. */
export interface WorkloadScale { verb: 'scale' | 'patch'; path: string; replicas: number }
export interface WorkloadDetail {
  workload: Workload
  pods: PodStatus[]
  conditions: Condition[]
  events: ClusterEvent[]
  manifest: unknown
  scale?: WorkloadScale
}

export interface Session { username: string; groups: string[]; server: string; version: string; provider: string; embedded: boolean }

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
  warnings: string[]
}
export interface Preview { resources: { kind: string; apiVersion: string; name: string; manifest: unknown }[]; warnings?: string[] }

export interface Pool { namespace: string; name: string; min: string; max: string; target: number; ready: number; freeHosts: number; state: string; story: string[] }
export interface Host {
  namespace: string
  name: string
  /** Available, Claimed, Cleaning or Silent. */
  phase: string
  labels: Record<string, string>
  capacity: Record<string, string>
  os: string
  addresses: string[]
  conditions: Condition[]
  createdAt: string
  claimedBy?: string
  silentSince?: string
}
/** The newest last. */
export interface Autoscaler { decisions: { text: string; time?: string }[]; notes: string[] }

/** Something that happened in a pool, and how many nodes it had afterwards. */
export interface Moment {
  time: string
  namespace: string
  pool: string
  kind: 'made' | 'grown' | 'shrunk' | 'joined' | 'left' | 'lost' | 'problem' | 'removed'
  text: string
  host: string
  nodes: number
}
/** The oldest first. */
export interface Timeline { moments: Moment[]; notes: string[] }

export interface NotebookJob {
  namespace: string
  name: string
  phase: string
  message: string
  notebook: string
  pod: string
  retries: number
  cells: { total: number; succeeded: number; failed: number; skipped: number }
  createdAt: string
  startedAt?: string
  finishedAt?: string
  comparison?: string
}
export interface Cell { cellIndex: number; status: string; executionTime?: string; output?: string; errorMessage?: string }
export interface CellDifference { cellIndex: number; cellType: string; diffType: string; severity: string; expected?: string; actual?: string; diff?: string }
export interface NotebookDetail {
  job: NotebookJob
  cells: Cell[]
  conditions: Condition[]
  comparison?: { strategy: string; result: string; totalCells: number; matchedCells: number; mismatchedCells: number; diffs: CellDifference[] }
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
  // The GPU Operator has commands alone.
  installationSteps?: { title: string; command?: string; description: string }[]
  helmCommands: string[]
  installation?: Installation
}

export interface Plan {
  pods: { pod: string; node: string | null; boundAfterSeconds: number | null; runningAfterSeconds: number | null; phase: string }[]
  waiting: string[]
}

/** What `mooring explain node/NAME` says; amounts as quantities. */
export interface NodeAnswer {
  node: string
  ready: boolean
  cordoned: boolean
  largestPod: Record<string, string>
  keepsOff: { text: string; toleratedBy?: { waiting: { count: number; total: number }; running: { count: number; total: number } } }[]
  lands: { pod: string; victims: string[] }[]
  fits: { pod: string; node: string; behind: number }[]
  blocked: { pods: string[]; causes: Cause[] }[]
  notes: string[]
  cordon: CordonChange
}
/** A change of a node, as `/apply` takes it. */
export interface CordonChange { text: string; command: string; writes: Write[] }
