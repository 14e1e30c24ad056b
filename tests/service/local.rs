//! Unix sockets, and the command that asks a server whether it takes calls.

use std::process::Command;

use clearance_proto as api;
use clearance_proto::server_service_client::ServerServiceClient;
use clearance_runtime::settings::Settings;
use clearance_transport::listener::Listener;
use tokio::sync::oneshot;
use tonic::transport::Endpoint;

/// What `clearance health` says, and whether it takes that for well.
async fn health(address: String) -> (bool, String) {
    let ask = move || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_clearance"));
        let output = command.args(["health", &address, "--timeout", "5"]).output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    tokio::task::spawn_blocking(ask).await.unwrap()
}

#[tokio::test]
async fn a_server_is_asked_over_a_file_and_says_so_to_who_asks_for_its_health() {
    let path = std::env::temp_dir().join(format!("clearance-socket-{}", std::process::id()));
    let address = format!("unix:{}", path.display());
    let listener = Listener::bind(&address).await.unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let shutdown = async {
        let _ = stopped.await;
    };
    let serving = tokio::spawn(clearance::rpc::serve(listener, shutdown, Settings::default()));
    let endpoint = Endpoint::from_shared(format!("unix://{}", path.display())).unwrap();
    let mut info = ServerServiceClient::new(endpoint.connect().await.unwrap());
    info.get_server_info(api::GetServerInfoRequest {}).await.unwrap();
    assert_eq!(health(address.clone()).await, (true, "SERVING\n".to_owned()));
    drop(info);
    stop.send(()).unwrap();
    serving.await.unwrap().unwrap();
    assert!(!path.exists(), "the file goes with the server");
    assert_eq!(health(address).await, (false, String::new()));
}

#[tokio::test]
async fn health_is_asked_of_addresses_and_of_pages() {
    let server = crate::server::Server::start().await;
    let (well, said) = health(server.address.to_string()).await;
    assert_eq!((well, &*said), (true, "SERVING\n"));
    // Whoever listens there and says nothing is not well.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = silent.local_addr().unwrap();
    assert!(!health(at.to_string()).await.0);
    assert!(!health(format!("http://{at}")).await.0);
}

#[tokio::test]
async fn a_file_speaks_no_tls() {
    let path = std::env::temp_dir().join(format!("clearance-socket-tls-{}", std::process::id()));
    let listener = Listener::bind(&format!("unix:{}", path.display())).await.unwrap();
    let settings = crate::tls::secured("socket");
    let refused = clearance::rpc::serve(listener, std::future::ready(()), settings).await;
    assert!(refused.unwrap_err().to_string().contains("a Unix socket does not speak TLS"));
}
