import {
  array,
  boolean,
  count,
  defineCommand,
  number,
  open,
  string,
  type Command,
  type Infer,
  showTime,
} from '../../../core/plugin.js'

const View = open({
  level: string(),
  artifacts: array(open({ artifact_id: string(), plaintext_bytes: number(), updated_at_ms: number() })),
  dropped_artifact_count: number(),
})

const show = ({ artifacts, level, dropped_artifact_count: dropped }: Infer<typeof View>): string => {
  const rows = artifacts.map(
    ({ artifact_id, plaintext_bytes, updated_at_ms }) =>
      `${showTime(updated_at_ms)}  ${artifact_id}  ${plaintext_bytes} bytes`,
  )
  return [`level ${level}`, ...rows, ...(dropped > 0 ? [`${dropped} more were dropped at a limit`] : [])].join('\n')
}

const debug = defineCommand({
  path: ['runs', 'debug'],
  route: 'GET /v1/runs/{run_id}/debug',
  summary: 'The evidence that is kept of a run.',
  args: ['run_id'],
  run: ({ client, args }) => client.get(`/v1/runs/${encodeURIComponent(args['run_id'] ?? '')}/debug`),
  answer: View,
  show,
})

const Report = open({
  dry_run: boolean(),
  cutoff_ms: number(),
  candidate_run_ids: array(string()),
  candidate_debug_bytes: number(),
})

const showPruned = ({
  dry_run,
  cutoff_ms,
  candidate_run_ids: ids,
  candidate_debug_bytes,
}: Infer<typeof Report>): string =>
  [
    ...ids,
    `${dry_run ? 'Would remove' : 'Removed'} the evidence of ${count(ids.length, 'run')} that ended until ` +
      `${showTime(cutoff_ms)}, ${count(candidate_debug_bytes, 'byte')}.`,
    ...(dry_run && ids.length > 0 ? ['Nothing was removed: repeat with --apply.'] : []),
  ].join('\n')

const prune = defineCommand({
  path: ['runs', 'prune'],
  route: 'POST /v1/runs/prune',
  summary: 'Removes debug evidence of runs that ended long ago; without --apply it only says which.',
  args: ['older_than_ms'],
  flags: {
    'session-id': { kind: 'text', summary: 'Only runs of this session.' },
    limit: { kind: 'text', summary: 'Most runs to prune.' },
    apply: { kind: 'switch', summary: 'Prune, instead of telling what would be pruned.' },
  },
  run: ({ client, args, flags }) =>
    client.send('POST', '/v1/runs/prune', {
      older_than_ms: Number(args['older_than_ms']),
      dry_run: flags['apply'] !== true,
      ...(typeof flags['session-id'] === 'string' && { session_id: flags['session-id'] }),
      ...(typeof flags['limit'] === 'string' && { limit: Number(flags['limit']) }),
    }),
  answer: Report,
  show: showPruned,
})

export const commands: readonly Command[] = [debug, prune]
