/** What waiting runs ask people for, a page at a time. */
import { arraySource, listPage, type ListReply, type PageRequest, type Skip } from '../../../../core/plugin.js'
import type { WaitingRun } from '../record/run-record.js'

export interface PendingQuery {
  readonly waiting: readonly WaitingRun[]
  /** Of all sessions when absent. */
  readonly session_id: string | undefined
  readonly page: PageRequest
  readonly skip: Skip | undefined
}

/** Requests by session and id; only those of the page are looked at. */
export const pendingPage = <V>(
  { waiting, session_id, page, skip }: PendingQuery,
  view: (run: WaitingRun, request_id: string) => V,
): ListReply<V> => {
  const asking = waiting.filter((run) => session_id === undefined || run.session_id === session_id)
  return listPage({
    query: page,
    source: arraySource(
      asking.flatMap((run) => run.pending.map((id) => ({ run, id }))),
      ({ run, id }) => `${run.session_id}:${id}`,
    ),
    label: 'session_id_asc,request_id_asc',
    view: ({ run, id }) => view(run, id),
    skip,
  })
}
