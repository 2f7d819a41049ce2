/** The learning policy from the command line. */
import { defineCommand, type Command } from '../../../core/plugin.js'
import { setWholeCommand } from '../../operator/runtime/contract.js'

const path = '/v1/runtime/learning-policy'

export const commands: readonly Command[] = [
  defineCommand({
    path: ['runtime', 'learning-policy', 'get'],
    route: `GET ${path}`,
    summary: 'Shows what is done about learnings.',
    run: ({ client }) => client.get(path),
  }),
  setWholeCommand({
    path: 'learning-policy',
    member: 'policy',
    summary: 'Sets what is done about learnings, all of it: what is not named gets its default.',
    reset: { summary: 'Set the defaults.', value: { mode: 'shadow' } },
    others: {
      mode: {
        flag: { kind: 'text', value: 'mode', summary: 'manual_only, shadow or enabled, and defaults for the rest.' },
        value: (mode) => ({ mode }),
      },
    },
  }),
]
