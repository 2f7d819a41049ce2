import { defineCommand, type Command } from '../../../core/plugin.js'
import { doctor } from './doctor-command.js'
import { showStatus, StatusAnswer } from './summary.js'

export const commands: readonly Command[] = [
  doctor,
  defineCommand({
    path: ['status'],
    route: 'GET /v1/status',
    summary: 'How the daemon is, and what to do next.',
    run: ({ client }) => client.get('/v1/status'),
    answer: StatusAnswer,
    show: showStatus,
  }),
]
