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

export interface Proposal {
  text: string
  brings: string
  command?: string
  patches?: Patch[]
  disruptive: boolean
}
export interface Patch { apiVersion: string; kind: string; namespace?: string; name: string; type: string; body: unknown }

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

export interface Session { username: string; server: string; cluster?: string; version: string; provider: string; embedded: boolean }
