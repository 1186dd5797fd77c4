import { Action, AutoBuilder, type Clock, FwAction, HttpRoute, Model, ModelEvent, type Principal, type ShardedId } from 'fw-actions';
import { WordsBuilder, type WordsRepository } from './generated/words.js';

/** What every object has something for already. */
export interface Inherited {
  readonly id?: string;
  readonly put?: string;
  readonly build?: string;
  readonly withEvent?: string;
  readonly constructor?: string;
  readonly toString?: string;
  readonly valueOf?: string;
  readonly hasOwnProperty?: string;
  readonly then?: string;
  readonly select?: string;
  readonly class?: string;
  readonly "two words"?: string;
  readonly 'it\'s'?: string;
  readonly 1?: string;
}

/** Members of builders, words of SQL and words of the language. */
@AutoBuilder({ table: 'order' })
export class Words extends Model<Words, ShardedId<Words>, 'NEW'> {
  readonly nested!: Inherited;
  readonly build!: string;
  readonly put!: string;
  readonly copyBase!: string;
  readonly carryBase!: string;
  readonly copyAll!: string;
  readonly withEvent!: string;
  readonly withInitialVersion!: string;
  readonly instantiate!: string;
  readonly setFields!: string;
  readonly all!: string;
  readonly analyze!: string;
  readonly and!: string;
  readonly any!: string;
  readonly array!: string;
  readonly as!: string;
  readonly asc!: string;
  readonly both!: string;
  readonly cast!: string;
  readonly check!: string;
  readonly collate!: string;
  readonly column!: string;
  readonly constraint!: string;
  readonly create!: string;
  readonly currentUser!: string;
  readonly desc!: string;
  readonly distinct!: string;
  readonly end!: string;
  readonly except!: string;
  readonly fetch!: string;
  readonly foreign!: string;
  readonly from!: string;
  readonly grant!: string;
  readonly group!: string;
  readonly having!: string;
  readonly initially!: string;
  readonly intersect!: string;
  readonly into!: string;
  readonly lateral!: string;
  readonly leading!: string;
  readonly limit!: string;
  readonly localtime!: string;
  readonly not!: string;
  readonly offset!: string;
  readonly on!: string;
  readonly only!: string;
  readonly or!: string;
  readonly order!: string;
  readonly placing!: string;
  readonly primary!: string;
  readonly references!: string;
  readonly returning!: string;
  readonly select!: string;
  readonly some!: string;
  readonly table!: string;
  readonly then!: string;
  readonly to!: string;
  readonly trailing!: string;
  readonly union!: string;
  readonly unique!: string;
  readonly user!: string;
  readonly using!: string;
  readonly variadic!: string;
  readonly when!: string;
  readonly where!: string;
  readonly window!: string;
  readonly arguments!: string;
  readonly async!: string;
  readonly await!: string;
  readonly break!: string;
  readonly case!: string;
  readonly catch!: string;
  readonly class!: string;
  readonly const!: string;
  readonly continue!: string;
  readonly debugger!: string;
  readonly default!: string;
  readonly delete!: string;
  readonly do!: string;
  readonly else!: string;
  readonly enum!: string;
  readonly eval!: string;
  readonly export!: string;
  readonly extends!: string;
  readonly finally!: string;
  readonly for!: string;
  readonly function!: string;
  readonly get!: string;
  readonly if!: string;
  readonly implements!: string;
  readonly import!: string;
  readonly in!: string;
  readonly instanceof!: string;
  readonly interface!: string;
  readonly let!: string;
  readonly new!: string;
  readonly null!: string;
  readonly of!: string;
  readonly package!: string;
  readonly private!: string;
  readonly protected!: string;
  readonly public!: string;
  readonly return!: string;
  readonly set!: string;
  readonly static!: string;
  readonly super!: string;
  readonly switch!: string;
  readonly this!: string;
  readonly throw!: string;
  readonly true!: string;
  readonly try!: string;
  readonly type!: string;
  readonly typeof!: string;
  readonly undefined!: string;
  readonly var!: string;
  readonly void!: string;
  readonly while!: string;
  readonly with!: string;
  readonly yield!: string;
}

type Values = Omit<Words, 'state' | 'version' | 'createdDate' | 'updatedDate'>;

export class WordsSavedEvent extends ModelEvent<Words> {
  readonly values: Values;

  constructor(words: Words) {
    super(words.id.getValue(), Words);
    this.values = words;
  }
}

/** In lower case, a word of the language. */
export class Return extends ModelEvent<Words> {
  constructor(words: Words) {
    super(words.id.getValue(), Words);
  }
}

export interface WordsSaveActionParams extends Values, Omit<Inherited, 'id' | 'put' | 'build' | 'withEvent' | 'then' | 'select' | 'class'> {}

export class WordsResponse {
  readonly values!: Values;

  static from(words: Words): WordsResponse {
    return { values: words };
  }
}

@FwAction
@HttpRoute('POST', '/words', { response: WordsResponse })
export class WordsSaveAction extends Action<WordsSaveActionParams, Words> {
  protected perform(_principal: Principal, words: WordsSaveActionParams): Words {
    const saved = WordsBuilder.words()
      .id(words.id)
      .state('NEW')
      .createdDate(this.clock.now())
      .withInitialVersion()
      .nested(words.nested)
      .withBuild(words.build)
      .withPut(words.put)
      .withCopyBase(words.copyBase)
      .withCarryBase(words.carryBase)
      .withCopyAll(words.copyAll)
      .withWithEvent(words.withEvent)
      .withWithInitialVersion(words.withInitialVersion)
      .withInstantiate(words.instantiate)
      .withSetFields(words.setFields)
      .all(words.all)
      .analyze(words.analyze)
      .and(words.and)
      .any(words.any)
      .array(words.array)
      .as(words.as)
      .asc(words.asc)
      .both(words.both)
      .cast(words.cast)
      .check(words.check)
      .collate(words.collate)
      .column(words.column)
      .constraint(words.constraint)
      .create(words.create)
      .currentUser(words.currentUser)
      .desc(words.desc)
      .distinct(words.distinct)
      .end(words.end)
      .except(words.except)
      .fetch(words.fetch)
      .foreign(words.foreign)
      .from(words.from)
      .grant(words.grant)
      .group(words.group)
      .having(words.having)
      .initially(words.initially)
      .intersect(words.intersect)
      .into(words.into)
      .lateral(words.lateral)
      .leading(words.leading)
      .limit(words.limit)
      .localtime(words.localtime)
      .not(words.not)
      .offset(words.offset)
      .on(words.on)
      .only(words.only)
      .or(words.or)
      .order(words.order)
      .placing(words.placing)
      .primary(words.primary)
      .references(words.references)
      .returning(words.returning)
      .select(words.select)
      .some(words.some)
      .table(words.table)
      .then(words.then)
      .to(words.to)
      .trailing(words.trailing)
      .union(words.union)
      .unique(words.unique)
      .user(words.user)
      .using(words.using)
      .variadic(words.variadic)
      .when(words.when)
      .where(words.where)
      .window(words.window)
      .arguments(words.arguments)
      .async(words.async)
      .await(words.await)
      .break(words.break)
      .case(words.case)
      .catch(words.catch)
      .class(words.class)
      .const(words.const)
      .continue(words.continue)
      .debugger(words.debugger)
      .default(words.default)
      .delete(words.delete)
      .do(words.do)
      .else(words.else)
      .enum(words.enum)
      .eval(words.eval)
      .export(words.export)
      .extends(words.extends)
      .finally(words.finally)
      .for(words.for)
      .function(words.function)
      .get(words.get)
      .if(words.if)
      .implements(words.implements)
      .import(words.import)
      .in(words.in)
      .instanceof(words.instanceof)
      .interface(words.interface)
      .let(words.let)
      .new(words.new)
      .null(words.null)
      .of(words.of)
      .package(words.package)
      .private(words.private)
      .protected(words.protected)
      .public(words.public)
      .return(words.return)
      .set(words.set)
      .static(words.static)
      .super(words.super)
      .switch(words.switch)
      .this(words.this)
      .throw(words.throw)
      .true(words.true)
      .try(words.try)
      .type(words.type)
      .typeof(words.typeof)
      .undefined(words.undefined)
      .var(words.var)
      .void(words.void)
      .while(words.while)
      .with(words.with)
      .yield(words.yield)
      .build();
    return this.plan().add(WordsBuilder.copyOf(saved).withEvent(new WordsSavedEvent(saved)).withEvent(new Return(saved)).build());
  }
}

export interface WordsReadActionParams {
  readonly wordsId: ShardedId<Words>;
}

@FwAction
@HttpRoute('GET', '/words/{wordsId}', { response: WordsResponse })
export class WordsReadAction extends Action<WordsReadActionParams, Words> {
  readonly #words: WordsRepository;

  constructor(clock: Clock, words: WordsRepository) {
    super(clock);
    this.#words = words;
  }

  protected perform(_principal: Principal, { wordsId }: WordsReadActionParams): Promise<Words> {
    return this.#words.getById(wordsId);
  }
}
