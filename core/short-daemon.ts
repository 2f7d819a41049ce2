/** A daemon in the process of a command: nobody else can call it, and it begins no work. */
import { createClock } from './base/clock.js'
import type { Environment } from './base/config.js'
import { createIds } from './base/ids.js'
import { readSettings } from './base/settings.js'
import type { Log } from './base/text/log.js'
import { createSecrets } from './base/text/secrets.js'
import { createClient } from './cli/client.js'
import type { ShortDaemon } from './cli/root/near-daemon.js'
import { startDaemon } from './daemon.js'
import { shippedPlugins } from './shipped.js'
import { createDisk } from './state/disk/real-disk.js'
import { unwritten } from './state/storage-errors.js'

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Who may call a daemon that serves, and where it is, is nothing of this one. */
const isAccess = (name: string): boolean => /^SERVICE_(?:DAEMON|HTTP|BIND)/u.test(name)
const isSetting = (name: string): boolean => name.startsWith('SERVICE_')

export interface ShortWish {
  readonly signal: AbortSignal
  /** True for one that no setting of the environment counts for: they are of another root. */
  readonly bare?: boolean | undefined
}

export const startShort = async (root: string, given: Environment, wish: ShortWish): Promise<ShortDaemon> => {
  const { signal, bare = false } = wish
  const isLeftOut = bare ? isSetting : isAccess
  const environment = Object.fromEntries(Object.entries(given).filter(([name]) => !isLeftOut(name)))
  const [disk, clock] = [createDisk(), createClock()]
  const token = createIds(clock).random(32)
  const flags = new Map([
    ['bind', '127.0.0.1:0'],
    ['state-root', root],
    ['http-admin-token', token],
  ])
  const guarded: string[] = []
  const settings = readSettings({ environment, flags, guard: (value) => guarded.push(value) })
  const secrets = createSecrets({ disk, root: settings.stateRoot, unwritten })
  guarded.forEach(secrets.guard)
  const shipped = await shippedPlugins()
  const daemon = await startDaemon({
    settings,
    shipped,
    log: silent,
    secrets,
    disk,
    clock,
    flags,
    environment,
    begins: false,
  })
  return {
    client: createClient({ baseUrl: daemon.url, token, signal }),
    stop: async () => void (await daemon.stop()),
  }
}
