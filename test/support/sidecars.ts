/** What tests of sidecars have in common. */
import { readFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Reachable } from './daemon.js'
import { eventually } from './mcp.js'
import type { SidecarPlan } from './odd-sidecar.js'

const fixture = fileURLToPath(new URL('odd-sidecar.js', import.meta.url))

/** A port of this machine that nobody listens at now. */
export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

export interface SidecarWish {
  readonly command: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly credential_slots?: Readonly<Record<string, string>>
}

/** Sets up a connector whose sidecar the daemon starts. Returns what the daemon answered. */
export const putSidecar = async ({ request }: Reachable, name: string, child_process: SidecarWish, more: object = {}) =>
  request('PUT', `/v1/runtime/connectors/external/${name}`, {
    platform: 'files',
    mode: 'child_process',
    base_url: `http://127.0.0.1:${await freePort()}`,
    shared_token: { value: `shared-${name}` },
    session_policy: { create_if_missing: true },
    ingress_events_per_second: 1000,
    child_process,
    ...more,
  })

/** The program of a sidecar that keeps to a plan. */
export const planned = (plan: SidecarPlan): SidecarWish => ({
  command: process.execPath,
  args: [fixture, JSON.stringify(plan)],
})

/** What the daemon says of a connector. */
export const connectorNow = async ({ request }: Reachable, name: string): Promise<any> =>
  (await request('GET', `/v1/runtime/connectors/external/${name}`)).body

/** Its health, once it is in this state and its cause fits. */
export const healthOf = (daemon: Reachable, name: string, state: string, cause = /^/u): Promise<any> =>
  eventually(async () => {
    const { health } = await connectorNow(daemon, name)
    return health?.state === state && cause.test(health.cause ?? '') ? health : undefined
  })

/** The lines that a planned sidecar wrote, once there is one that fits. */
export const notesOf = (notes: string, wanted: RegExp): Promise<string[]> =>
  eventually(async () => {
    const lines = (await readFile(notes, 'utf8').catch(() => '')).split('\n')
    const found = lines.filter((line) => wanted.test(line))
    return found.length > 0 ? found : undefined
  })

/** Process ids of all who wrote into these notes. */
export const pidsOf = async (notes: string, least = 1): Promise<number[]> =>
  eventually(async () => {
    const pids = (await readFile(notes, 'utf8').catch(() => '')).match(/(?<=^pid )\d+$/gmu)?.map(Number) ?? []
    return pids.length >= least ? pids : undefined
  })

/** False for one that has ended, also if nobody has waited for it yet. */
export const isAlive = (pid: number): boolean => {
  try {
    return !/\) Z /u.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
export const allGone = (pids: readonly number[]): Promise<true> =>
  eventually(async () => (pids.some(isAlive) ? undefined : true))
