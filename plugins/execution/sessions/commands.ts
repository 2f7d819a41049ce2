import type { Command } from '../../../core/plugin.js'

export const sessionCommands: readonly Command[] = []
