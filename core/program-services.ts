/** The services that start programs beside the daemon. */
import type { Log } from './base/text/log.js'
import type { Token } from './base/token.js'
import { Processes, Supervised } from './processes/contract.js'
import { createSupervised, type SupervisedParts } from './processes/supervised.js'
import { Sandbox } from './sandbox/contract.js'
import { createSandbox } from './sandbox/sandbox.js'

export interface ProgramServices {
  readonly services: readonly (readonly [Token<unknown>, unknown])[]
  /** Ends what does not belong to a plugin. */
  close(): Promise<void>
}

export const createProgramServices = (parts: SupervisedParts & { readonly log: Log }): ProgramServices => {
  const supervised = createSupervised(parts)
  const sandbox = createSandbox({ ...parts, supervised })
  return {
    services: [
      [Processes, parts.processes],
      [Supervised, supervised],
      [Sandbox, sandbox],
    ],
    async close() {
      await sandbox.close()
      await supervised.close()
    },
  }
}
