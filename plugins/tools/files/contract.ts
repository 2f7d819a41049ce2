/**
 * Files of the workspace as other plugins may look at them: where a path leads and what is there, never the content.
 */
import { defineToken, type Token } from '../../../core/plugin.js'

/** A regular file as it is now. Two states that are equal are of a file that nobody wrote in between. */
export type FileState = {
  /** Absent for files beyond 16 MiB, which are told apart by the rest. */
  readonly sha256?: string
  readonly bytes: number
  /** Nanoseconds since 1970, in decimal. */
  readonly changed_at_ns: string
  /** Number of the file on its file system. */
  readonly node: string
}

/** A file that was looked for: `path` is relative to the workspace with all links resolved. */
export interface FoundFile {
  readonly path: string
  readonly state: FileState
}

/** Looks at files where the file tools may go, and nowhere else. */
export interface WorkspaceFiles {
  /**
   * Rejects with a problem of the file tools, such as `path_outside_workspace`, for a path that no file tool would
   * write to. The file need not exist.
   */
  check(workspace: string, path: string): Promise<void>
  /**
   * The regular file at a path; undefined if there is none, or if the path leads to where the file tools may not go.
   */
  look(workspace: string, path: string): Promise<FoundFile | undefined>
}
/** Looks at files of the workspace. */
export const WorkspaceFiles: Token<WorkspaceFiles> = defineToken<WorkspaceFiles>('workspace-files@1')
