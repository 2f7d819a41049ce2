import { defineErrors } from '../../../core/plugin.js'

export const explanationErrors = defineErrors({
  explained_expired: {
    status: 404,
    domain: 'explanations',
    detail: '{id} is older than what is kept; it may have been here.',
    action: 'Look into the archives of archive_dir, if there are any: holdfast state show --archive FILE',
  },
  nothing_to_explain: {
    status: 404,
    domain: 'explanations',
    detail: 'There is no run, agent, session, flow, channel, project, task or candidate {id}.',
    action:
      'See what there is with GET /v1/runs, GET /v1/agents/summaries, GET /v1/flows, GET /v1/channels, ' +
      'GET /v1/projects and GET /v1/learning-candidates. A task is named PROJECT:TASK.',
  },
})
