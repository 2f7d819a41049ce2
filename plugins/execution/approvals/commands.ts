import type { Command } from '../../../core/plugin.js'

export const approvalCommands: readonly Command[] = []
