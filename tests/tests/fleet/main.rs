//! A fleet of servers over real brokers, which are started here, killed, frozen and restarted.
//!
//! Without the programs `redis-server` and `nats-server` these tests say so, and do nothing.

#![cfg(all(unix, any(feature = "nats", feature = "redis")))]

mod broker;
#[cfg(feature = "nats")]
mod nats;
mod outages;
#[cfg(feature = "redis")]
mod redis;
mod server;
mod servers;
mod together;

/// All tests, with one broker.
#[macro_export]
macro_rules! for_broker {
    ($publisher:ty) => {
        $crate::for_broker!($publisher: together {
            a_change_is_heard_here_at_once_and_everywhere_once,
            channels_are_apart,
            credentials_are_those_of_the_address,
            the_last_clone_leaves_nothing_running,
        });
        $crate::for_broker!($publisher: outages {
            servers_start_before_their_broker,
            a_broker_that_is_frozen_is_given_up,
            nothing_is_missed_when_the_broker_is_killed_under_load,
        });
        $crate::for_broker!($publisher: servers {
            a_tool_tells_the_streams_of_all_servers,
        });
    };
    ($publisher:ty: $module:ident { $($test:ident,)* }) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                $crate::$module::$test::<$publisher>().await;
            }
        )*
    };
}
