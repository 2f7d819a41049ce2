/** What a start found of boards, as it is shown. */
import {
  array,
  doc,
  integer,
  object,
  optional,
  string,
  type Infer,
  type Log,
  type Warning,
} from '../../../core/plugin.js'

const mostDiagnostics = 32

/** The member `storage.board_repair` of `/v1/status`. */
export const BoardRepairReport = object({
  checked_revision_count: integer({ min: 0 }),
  quarantined_count: doc(integer({ min: 0 }), 'Revisions that this start set aside.'),
  restored_count: doc(integer({ min: 0 }), 'Revisions that an earlier start set aside, and that are sound again.'),
  rebuilt_board_count: doc(integer({ min: 0 }), 'Boards that were missing and were made again from their revisions.'),
  diagnostics: doc(
    array(object({ board_id: string(), revision_id: optional(string()), action: string(), reason: string() })),
    `The first ${mostDiagnostics}.`,
  ),
})
/** The value form of `BoardRepairReport`. */
export type BoardRepairReport = Infer<typeof BoardRepairReport>

export interface BoardFindings {
  readonly report: BoardRepairReport
  checked(): void
  tell(finding: BoardRepairReport['diagnostics'][number] & { readonly action: keyof typeof counted }): void
}

const counted = { quarantine: 'quarantined_count', restore: 'restored_count', rebuild: 'rebuilt_board_count' } as const

export const createBoardFindings = (log: Log): BoardFindings => {
  const report: BoardRepairReport = {
    checked_revision_count: 0,
    quarantined_count: 0,
    restored_count: 0,
    rebuilt_board_count: 0,
    diagnostics: [],
  }
  return {
    report,
    checked() {
      report.checked_revision_count += 1
    },
    tell(finding) {
      report[counted[finding.action]] += 1
      log.warn('a board is not as it was', finding)
      if (report.diagnostics.length < mostDiagnostics) report.diagnostics.push(finding)
    },
  }
}

export const quarantineWarnings = (count: number): Warning[] =>
  count === 0
    ? []
    : [
        {
          severity: 'warning',
          code: 'board_revisions_quarantined',
          message: `${count} revisions of boards are set aside: what they name is not there as it was.`,
          action:
            'Upload the missing files again or restore a backup, then restart. They are in storage.board_repair of: ' +
            'holdfast status --output json',
        },
      ]
