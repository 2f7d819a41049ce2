/** Hooks from the command line. */
import { defineCommand, type Command } from '../../../core/plugin.js'
import { setWholeCommand } from '../runtime/contract.js'

const base = '/v1/runtime/hooks'

export const commands: readonly Command[] = [
  setWholeCommand({
    path: 'hooks',
    member: 'hooks',
    summary: 'Sets all hooks: what a file or standard input says, as JSON with the member hooks.',
    reset: { summary: 'Set none.', value: {} },
  }),
  defineCommand({
    path: ['runtime', 'hooks', 'get'],
    route: `GET ${base}`,
    summary: 'The hooks in force, with their secrets.',
    run: ({ client }) => client.get(base),
  }),
  defineCommand({
    path: ['runtime', 'hooks', 'dead-letter'],
    route: `GET ${base}/dead-letter`,
    summary: 'Invocations that failed for good.',
    run: ({ client }) => client.get(`${base}/dead-letter`),
  }),
  defineCommand({
    path: ['runtime', 'hooks', 'resolve-dead-letter'],
    route: `POST ${base}/dead-letter/{dead_letter_id}/resolve`,
    summary: 'Says that somebody has looked at a failed invocation.',
    args: ['dead_letter_id'],
    flags: { reason: { kind: 'text', summary: 'What was found.' } },
    fields: { 'body.reason': '--reason' },
    run: ({ client, args, flags }) =>
      client.send('POST', `${base}/dead-letter/${encodeURIComponent(args['dead_letter_id'] ?? '')}/resolve`, {
        ...(typeof flags['reason'] === 'string' && { reason: flags['reason'] }),
      }),
  }),
]
