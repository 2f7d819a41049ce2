/** State roots that stand in the repository, as a daemon would have left them. */
import type { ExecutionContext } from 'ava'
import { chmodSync, cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClock } from '../../core/base/clock.js'
import { declarationsOf, shippedPlugins } from '../../core/shipped.js'
import { createDisk } from '../../core/state/disk/real-disk.js'
import { verifyRoot, type VerifyReport } from '../../core/state/inspect/verify.js'

/** A copy that nobody else may read, which is what git cannot keep. */
export const copyRoot = (t: ExecutionContext, from: string): string => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-copied-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  cpSync(from, root, { recursive: true })
  for (const name of ['.', ...readdirSync(root, { recursive: true, encoding: 'utf8' })])
    chmodSync(join(root, name), statSync(join(root, name)).isFile() ? 0o600 : 0o700)
  return root
}

/** `state verify` of a root that no daemon has open. */
export const verifyShipped = async (root: string): Promise<VerifyReport> =>
  verifyRoot({
    root,
    disk: createDisk(),
    clock: createClock(),
    declared: await declarationsOf(await shippedPlugins()),
    live: false,
  })
