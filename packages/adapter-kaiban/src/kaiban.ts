/**
 * A task of KaibanJS. The types of KaibanJS are declared here as far as they are used: its package
 * is large, and the caller who has a team has it installed.
 */
export interface KaibanTask {
  readonly id: string;
  readonly title?: string | undefined;
  readonly referenceId?: string | undefined;
  readonly description: string;
  readonly interpolatedTaskDescription: string | null;
  readonly expectedOutput: string;
  readonly result?: unknown;
  /** A Zod schema. */
  readonly outputSchema?: unknown;
}

/** The state of a KaibanJS team, as far as it is read here. */
export interface KaibanState {
  readonly teamWorkflowStatus: string;
  readonly workflowResult: unknown;
  readonly workflowLogs: readonly KaibanLog[];
}

/** A line of a KaibanJS team's log, as far as it is read here. */
export interface KaibanLog {
  readonly logType: string;
  readonly logDescription: string;
  readonly taskStatus?: string | undefined;
  readonly agentStatus?: string | undefined;
  readonly agent?: { readonly llmConfig?: { readonly model?: unknown } | undefined } | undefined;
  readonly metadata?: unknown;
}

/** The store of a KaibanJS team, as far as it is used here. */
export interface KaibanStore {
  getState(): KaibanState;
  subscribe(listener: () => void): () => void;
}

/** A `Team` of KaibanJS. */
export interface KaibanTeam {
  getStore(): KaibanStore;
  getTasksByStatus(status: string): readonly KaibanTask[];
  start(inputs?: Record<string, unknown>): Promise<unknown>;
  stop(): Promise<void>;
  validateTask(taskId: string): void;
  provideFeedback(taskId: string, feedback: string): void;
}

/** The class `Agent` of KaibanJS, which the caller passes in. */
export type KaibanAgentClass<KaibanAgent> = new (config: never) => KaibanAgent;

/** How an agent of KaibanJS does its work. */
export interface Worker {
  store: WorkerStore | null;
  workOnTask(
    task: KaibanTask,
    inputs: Readonly<Record<string, unknown>>,
    context: string,
  ): Promise<unknown>;
}

/** The input of a task's log line. */
export interface TaskLog {
  readonly task: KaibanTask;
  readonly metadata: { readonly result?: unknown };
}

interface WorkerState extends KaibanState {
  handleAgentTaskCompleted(params: object): void;
  handleTaskError(params: object): void;
  handleWorkflowError(error: Error): void;
  prepareTaskStatusUpdateLog(log: TaskLog): KaibanLog;
}

/** The store of a team, as its agents see it. */
export interface WorkerStore extends KaibanStore {
  getState(): WorkerState;
  setState(changed: Partial<WorkerState>): void;
}
